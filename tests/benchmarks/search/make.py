"""Makes the journal of real runs that the benchmark of searches is played on.

    python tests/benchmarks/search/make.py FOLDER        about 13 minutes on one core

Digits of which 40 % of the training labels are wrong, a small network: `avgk` on 9 learning rates x 9 alphas, on 21
alphas, and `noised_topk_hinge` on 21 epsilons, each with the same 30 seeds. All of it is a study of Setsweep with the
grid sampler, so what is stopped goes on, and the values are those that a search would see.
"""

from __future__ import annotations

import sys
from typing import Any

from setsweep.sweeps import run_study

SEEDS = 30
STUDIES: dict[str, dict[str, Any]] = {
    "rates-and-alphas": {
        "avgk": {
            "alpha": {"choice": [round(0.1 * 10 ** (i / 4), 6) for i in range(9)]},
            "training.optimizer.lr": {"choice": [round(0.003 * 10 ** (i / 4), 6) for i in range(9)]},
        }
    },
    "alphas": {"avgk": {"alpha": {"choice": [round(0.1 * 10 ** (i / 10), 6) for i in range(21)]}}},
    "epsilons": {
        "noised_topk_hinge": {
            "epsilon": {"choice": [round(0.01 * 10 ** (3 * i / 20), 6) for i in range(21)]},
            "num_samples": 3,
        }
    },
}


def study(name: str) -> dict[str, Any]:
    """The study of that name."""
    return {
        "study": name,
        "data": {"name": "digits", "label_noise": 0.4},
        "model": {"name": "mlp", "hidden": 64},
        "training": {
            "epochs": 10,
            "batch_size": 64,
            "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "nesterov": True},
        },
        "k": [1, 2],
        "arms": STUDIES[name],
        "search": {"sampler": "grid", "objective": "val/avg2_accuracy", "seeds": SEEDS},
        "confirm": {"seeds": 1, "default": False},
        "compare": {"baseline": next(iter(STUDIES[name]))},
        "resources": {"seeds_per_worker": SEEDS},
    }


if __name__ == "__main__":
    for each in STUDIES:
        run_study(study(each), storage=sys.argv[1], tracking_uri="sqlite:///mlflow-of-benchmark.db", in_process=True)
