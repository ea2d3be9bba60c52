"""What is shown: statistics, tables, figures and the report that joins them."""
