"""How sensitive results are to hyperparameters: curves, plateaus, shares of variance, tuning curves, health."""
