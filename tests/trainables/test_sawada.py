"""Sawada et al.'s experiment 2: a model too small for its data, for which the top-2 losses are worth many points."""

from __future__ import annotations

import statistics

import pytest

from setsweep.data.circle import best_topk_accuracy
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.loop import train


def _top2(loss: str, seed: int) -> float:
    plain = {
        "data": {"name": "circle", "sigma": 10, "shift": 90},
        "model": {"name": "linear", "bias": False},
        "loss": {"name": loss},
        "training": {
            "epochs": 1000,
            "batch_size": "full",
            "optimizer": {"lr": 1.0},
            "keep": "last",
            "evaluate_every": 1000,
        },
        "k": 2,
        "seed": seed,
    }
    return 100 * train(complete_config(plain)).metrics["test/top2_accuracy"]


@pytest.fixture(scope="module")
def cross_entropy() -> list[float]:
    """Top-2 accuracy of three seeds, in per cent."""
    return [_top2("cross_entropy", seed) for seed in range(3)]


@pytest.mark.parametrize("loss", ["topk_grouping", "topk_transition"])
def test_a_linear_model_gains_10_to_18_points_of_top_2_from_a_top_2_loss(loss: str, cross_entropy: list[float]) -> None:
    # over 10 seeds the paired difference was measured as 14.4 +- 1.2; a mean of 3 lies within 2.2 of it
    top2 = [_top2(loss, seed) for seed in range(3)]
    gain = statistics.mean(ours - theirs for ours, theirs in zip(top2, cross_entropy, strict=True))
    assert 10 <= gain <= 18
    assert statistics.mean(cross_entropy) == pytest.approx(79, abs=4)
    best = 100 * best_topk_accuracy(2, sigma=10, shift=90)
    assert all(value <= best for value in top2)
