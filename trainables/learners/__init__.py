"""What learns: one seed by itself or several seeds together, with their optimisers."""
