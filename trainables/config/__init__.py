"""What decides a run: its configuration, checked and complete, and its result."""
