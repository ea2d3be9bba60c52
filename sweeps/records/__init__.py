"""What is kept: the journal of results, its aggregates over seeds, and their projection into MLflow."""
