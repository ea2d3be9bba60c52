"""How results depend on hyperparameters: what was tried, what it says, in words, tables and pictures."""
