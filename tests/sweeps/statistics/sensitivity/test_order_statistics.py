"""Bounds for all order statistics at once: their joint probability is the confidence, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.order_statistics import distribution_bounds, probability_within

DRAWS = 40_000


def test_one_value_has_the_central_interval() -> None:
    (low,), (high,) = distribution_bounds(1, 0.95)
    assert (low, high) == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize("count", [2, 5, 40, 300])
def test_all_bounds_hold_at_once_with_the_confidence(count: int) -> None:
    low, high = distribution_bounds(count, 0.9)
    assert probability_within(np.array(low), np.array(high)) == pytest.approx(0.9, abs=1e-8)


def test_simulated_uniform_samples_lie_inside_as_often_as_said() -> None:
    """40,000 samples of twelve, seeded; 4.5 standard errors are 0.005, beyond which one falls once in 150,000 times."""
    low, high = distribution_bounds(12, 0.95)
    values = np.sort(np.random.default_rng(0).random((DRAWS, 12)), axis=1)
    inside = ((values >= low) & (values <= high)).all(axis=1).mean()
    assert inside == pytest.approx(0.95, abs=0.005)


def test_bounds_ascend_and_mirror_each_other() -> None:
    low, high = (np.array(ends) for ends in distribution_bounds(9, 0.95))
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
    assert low == pytest.approx(1 - high[::-1], abs=1e-6)
    assert (low[0], high[-1]) == (0.0, 1.0)


def test_two_values_by_hand() -> None:
    """P(both of two uniform values in [a, 1 - a]) is (1 - 2 a)^2: bounds that are the same for both."""
    a = 0.1
    assert probability_within(np.array([a, a]), np.array([1 - a, 1 - a])) == pytest.approx(0.8**2)


def test_bounds_that_cross_hold_never() -> None:
    assert probability_within(np.array([0.5, 0.6]), np.array([0.4, 0.7])) == 0.0


def test_more_confidence_is_wider() -> None:
    narrow, wide = distribution_bounds(6, 0.8), distribution_bounds(6, 0.99)
    assert all(w <= n for w, n in zip(wide[0], narrow[0], strict=True))
    assert all(w >= n for w, n in zip(wide[1], narrow[1], strict=True))
