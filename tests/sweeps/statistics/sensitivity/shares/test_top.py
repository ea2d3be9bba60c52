from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.shares.top import top_shares


def test_what_decides_alone_has_the_share_that_its_bins_leave() -> None:
    # The best tenth is exactly the last of ten bins: nothing is left within bins.
    draw = np.random.default_rng(0)
    x = draw.random((2000, 2))
    found = top_shares(x, x[:, 0], ["alpha", "margin"], confidence=0.95)
    assert found.shares[0] == pytest.approx(1)
    # Of 10 bins of n / 10 a hyperparameter without effect has 9 / n of the variance on average: 0.0045; its 99.99 %
    # quantile (chi2 of 9 degrees, 33.7) is 0.017.
    assert found.shares[1] < 0.017
    assert 0.004 < found.dummy < 0.017


def test_half_of_the_range_that_is_as_good_as_any_has_a_ninth() -> None:
    # Best tenth at random within the upper half: E[top | x] is 0.2 or 0, variance 0.01 of 0.09.
    draw = np.random.default_rng(1)
    x = draw.random((20_000, 1))
    found = top_shares(x, (x[:, 0] > 0.5) + draw.random(20_000), ["alpha"], confidence=0.95)
    assert found.shares[0] == pytest.approx(1 / 9, abs=0.01)


def test_a_dummy_is_seldom_above_the_dummys_bound() -> None:
    # 100 hyperparameters that do nothing: 5 are above on average, sd 2.2; 16 is 5 sd above.
    draw = np.random.default_rng(2)
    found = top_shares(draw.random((1200, 100)), draw.random(1200), [str(i) for i in range(100)], confidence=0.95)
    assert sum(share > found.dummy for share in found.shares) < 16


def test_choices_and_failed_trials_are_taken() -> None:
    draw = np.random.default_rng(3)
    x = draw.integers(0, 2, (1500, 1)) / 1.0
    y = np.where(x[:, 0] == 1, draw.random(1500), np.nan)
    found = top_shares(x, y, ["choice"], confidence=0.95)
    assert found.shares[0] == pytest.approx(1 / 9, abs=0.02)  # as for half of a range
    assert found == top_shares(x, y, ["choice"], confidence=0.95)


@pytest.mark.parametrize(
    ("trials", "columns", "rule"),
    [
        (1000, 1, "shares of being among the best must rest on more than 1000 trials, got 1000"),
        (1001, 2, r"positions must have the shape \(1001, 1\), got \(1001, 2\)"),
    ],
)
def test_too_few_trials_are_refused(trials: int, columns: int, rule: str) -> None:
    draw: Any = np.random.default_rng(0)
    with pytest.raises(ValueError, match=rule):
        top_shares(draw.random((trials, columns)), draw.random(trials), ["alpha"], confidence=0.95)
