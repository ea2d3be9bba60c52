"""One run: a configuration and a seed in, metrics out. Needs torch, losses and data; no Ray, Optuna or MLflow."""
