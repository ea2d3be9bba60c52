"""The text of a study: its lines, and what is told of mistakes in them."""
