"""What to run next: the planner, the search, and groups of seeds that train together."""
