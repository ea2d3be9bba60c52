"""At which values a study trains its arms: the grid, the axes of a sensitivity study, each point's configuration."""
