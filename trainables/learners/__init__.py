"""What learns: one seed by itself or a seed group together, with their optimisers."""
