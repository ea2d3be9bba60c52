"""Who suggests what is tried next: Optuna's samplers, CMA-ES, quasi-random points, whole grids."""
