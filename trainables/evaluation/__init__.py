"""What is measured: set-valued metrics, thresholds, best epochs and the history of a run."""
