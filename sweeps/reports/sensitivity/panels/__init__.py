"""One panel of a picture each."""
