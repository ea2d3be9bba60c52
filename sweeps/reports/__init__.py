"""What is shown: tables, figures and the report that joins them."""
