"""What is kept: the journal of results in the study's folder, and its projection into MLflow."""
