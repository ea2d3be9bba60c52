"""Whether scores depend on hyperparameters: a permutation test that is exact whatever the noise."""

from __future__ import annotations

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.no_effect import permutation_p


def test_a_curve_is_found_at_the_smallest_p_there_is() -> None:
    """With 199 permutations 1 / 200; the curve spans 1, its noise 0.05."""
    draw = np.random.default_rng(0)
    x = np.linspace(0, 1, 30)[:, None]
    scores = np.sin(3 * x[:, 0]) + 0.05 * draw.standard_normal(30)
    assert permutation_p(x, scores, draws=199) == 1 / 200


def test_one_hyperparameter_among_idle_ones_is_found() -> None:
    draw = np.random.default_rng(1)
    x = draw.random((40, 4))
    assert permutation_p(x, (x[:, 2] - 0.5) ** 2 + 0.01 * draw.standard_normal(40), draws=199) < 0.05


def test_equal_scores_depend_on_nothing() -> None:
    assert permutation_p(np.linspace(0, 1, 9)[:, None], np.full(9, 0.7)) == 1.0


def test_scores_of_pure_noise_are_called_dependent_as_rarely_as_the_level_says() -> None:
    """200 seeded samples of heavy-tailed noise at level 0.1: more than 36 come once in 1,000 times (binomial)."""
    draw = np.random.default_rng(2)
    found = sum(permutation_p(draw.random((12, 2)), draw.standard_t(3, 12), draws=49) <= 0.1 for _ in range(200))
    assert 4 <= found <= 36


def test_the_same_scores_give_the_same_p_and_neither_unit_nor_origin_matters() -> None:
    draw = np.random.default_rng(3)
    x, scores = draw.random((15, 2)), draw.random(15)
    p = permutation_p(x, scores, draws=99)
    assert permutation_p(x, scores, draws=99) == p
    assert permutation_p(x, 100 * scores + 7, draws=99) == pytest.approx(p, abs=0.011)
