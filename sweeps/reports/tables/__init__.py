"""The tables of a report before any format: cells of text."""
