from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.sensitivity.failures import failure_cliff, failure_rate, failures_by_region

POSITIONS = np.linspace(0, 1, 9)


def failing(low: int, seeds: int, share: float, number: int = 0) -> Any:
    """Flags of 9 values, the first `low` of which fail with this chance."""
    flags = np.zeros((9, seeds))
    flags[:low] = np.random.default_rng(number).random((low, seeds)) < share
    return flags


@pytest.mark.parametrize(("failed", "runs"), [(0, 5), (1, 5), (5, 5), (3, 40)])
def test_the_interval_of_a_rate_is_that_of_clopper_and_pearson(failed: int, runs: int) -> None:
    expected = stats.binomtest(failed, runs).proportion_ci(0.95, method="exact")
    assert failure_rate(failed, runs, confidence=0.95) == pytest.approx((expected.low, expected.high))


def test_rates_of_no_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="failures must be between 0 and runs >= 1, got 0 of 0"):
        failure_rate(0, 0, confidence=0.95)


def test_each_value_of_a_small_grid_has_its_rate() -> None:
    flags = np.zeros((3, 4))
    flags[0, :2] = 1
    flags[2, 0] = np.nan
    found = failures_by_region([0.0, 0.5, 1.0], flags, confidence=0.95)
    assert [(one.first, one.failed, one.runs, one.rate) for one in found] == [
        (0, 2, 4, 0.5),
        (1, 0, 4, 0),
        (2, 0, 3, 0),
    ]


def test_many_values_fall_into_stretches_of_about_as_many_runs() -> None:
    draw = np.random.default_rng(0)
    positions = draw.random(40)
    found = failures_by_region(positions, np.zeros((40, 1)), confidence=0.95, bins=5)
    assert [one.runs for one in found] == [8] * 5
    assert found[0].first == positions.argmin()
    assert found[-1].last == positions.argmax()
    assert all(positions[a.last] < positions[b.first] for a, b in itertools.pairwise(found))


def test_equal_positions_are_never_parted() -> None:
    found = failures_by_region([0.1] * 9 + [0.2], np.zeros((10, 1)), confidence=0.95, bins=5)
    assert [one.runs for one in found] == [9, 1]


def test_the_cliff_is_found_where_runs_begin_to_fail() -> None:
    found = failure_cliff(POSITIONS, failing(3, 10, 0.5), confidence=0.95)
    assert found is not None
    assert (found.side, found.below, found.above) == ("low", 2, 3)
    assert (found.failing.runs, found.elsewhere.rate) == (30, 0)
    assert found.p == 0.001
    assert found.failing.low > found.elsewhere.high


def test_a_cliff_may_be_on_the_high_side_and_the_values_in_any_order() -> None:
    found = failure_cliff(POSITIONS[::-1], failing(3, 10, 0.5), confidence=0.95)
    assert found is not None
    assert (found.side, found.below, found.above) == ("high", 3, 2)


def test_a_quarter_of_failing_seeds_at_one_value_is_seen_with_ten_seeds() -> None:
    # 3 of 10 runs at the lowest of 9 values, none elsewhere: all three fall into one given end with about
    # 2 C(10, 3) / C(90, 3) = 0.002 when they are permuted.
    flags = np.zeros((9, 10))
    flags[0, [1, 4, 7]] = 1
    found = failure_cliff(POSITIONS, flags, confidence=0.95)
    assert found is not None
    assert (found.side, found.below) == ("low", 0)
    assert found.p < 0.01


def test_a_seed_that_always_fails_is_no_cliff() -> None:
    flags = np.zeros((9, 5))
    flags[:, 2] = 1
    found = failure_cliff(POSITIONS, flags, confidence=0.95)
    assert found is not None
    assert found.p == 1.0


def test_without_failures_or_without_anything_else_there_is_no_cliff() -> None:
    assert failure_cliff(POSITIONS, np.zeros((9, 5)), confidence=0.95) is None
    assert failure_cliff(POSITIONS, np.ones((9, 5)), confidence=0.95) is None
    assert failure_cliff(np.zeros(9), failing(3, 10, 0.5), confidence=0.95) is None


def test_the_test_of_a_cliff_keeps_its_level() -> None:
    # 400 studies in which seeds fail unequally and values do not matter: p <= 0.05 in at most 5 %, sd 1.1 %; 5 sd.
    draw = np.random.default_rng(0)
    p_values = []
    for _ in range(400):
        flags = draw.random((9, 10)) < draw.beta(1, 5, size=10)
        found = failure_cliff(POSITIONS, flags, confidence=0.95, draws=99)
        p_values.append(1.0 if found is None else found.p)
    assert np.mean(np.array(p_values) <= 0.05) < 0.105


@pytest.mark.parametrize(
    ("positions", "failed", "rule"),
    [
        ([0.1], [[0, 1], [0, 1]], r"failed must be \(configurations, seeds\) for \(1,\) finite positions"),
        ([0.1, np.nan], [[0], [1]], r"failed must be \(configurations, seeds\) for \(2,\) finite positions"),
        ([0.1, 0.2], [[0], [2]], "failed must be 0, 1 or NaN, and not NaN throughout"),
        ([0.1, 0.2], [[np.nan], [np.nan]], "failed must be 0, 1 or NaN, and not NaN throughout"),
    ],
)
def test_flags_that_are_none_are_refused(positions: Any, failed: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        failure_cliff(positions, failed, confidence=0.95)


def test_no_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="bins must be >= 1, got 0"):
        failures_by_region([0.1], [[0]], confidence=0.95, bins=0)


def test_computed_twice_it_is_equal() -> None:
    flags = failing(3, 10, 0.3)
    assert failure_cliff(POSITIONS, flags, confidence=0.95) == failure_cliff(POSITIONS, flags, confidence=0.95)
