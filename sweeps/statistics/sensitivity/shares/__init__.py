"""How much of the variance is each hyperparameter's: in a grid, in a search, among the best."""
