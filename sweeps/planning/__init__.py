"""What to run: study files, search spaces, and the planner that decides the next run."""
