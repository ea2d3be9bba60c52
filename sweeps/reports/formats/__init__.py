"""A report in every format."""
