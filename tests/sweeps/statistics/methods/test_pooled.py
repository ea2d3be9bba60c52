from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from setsweep.sweeps.statistics.methods.pooled import pooled_intervals


def apart(*groups: list[float]) -> list[dict[int, float]]:
    """Configurations of which no two have a seed in common."""
    return [{100 * row + seed: value for seed, value in enumerate(values)} for row, values in enumerate(groups)]


def test_the_variance_is_pooled_on_the_logit_scale() -> None:
    groups = ([0.6, 0.7, 0.65], [0.9, 0.95], [0.8])
    found = pooled_intervals(apart(*groups), confidence=0.95)
    squares = sum(float(((logit(g) - logit(g).mean()) ** 2).sum()) for g in map(np.array, groups))
    assert found.degrees == 3
    assert found.std == pytest.approx(math.sqrt(squares / 3), rel=1e-9)


def test_each_interval_is_about_its_own_mean_on_the_logit_scale() -> None:
    found = pooled_intervals(apart([0.6, 0.7, 0.65], [0.9, 0.95], [0.8]), confidence=0.9)
    for interval, mean, n in zip(found.intervals, (0.65, 0.925, 0.8), (3, 2, 1), strict=True):
        half = stats.t.ppf(0.95, 3) * found.std / math.sqrt(n)
        assert (interval.mean, interval.n) == (pytest.approx(mean), n)
        assert interval.ci_low == pytest.approx(expit(logit(mean) - half), rel=1e-9)
        assert interval.ci_high == pytest.approx(expit(logit(mean) + half), rel=1e-9)


def test_one_configuration_alone_has_its_own_degrees_of_freedom() -> None:
    assert pooled_intervals([{0: 0.8, 1: 0.9, 2: 0.85}], confidence=0.95).degrees == 2


def test_common_seeds_are_counted_as_what_they_are() -> None:
    # Three configurations that move together: correlation 1, with 0.8 for one seed more: (1 * 2 + 0.8) / 3 = 0.9333.
    # T: six ordered pairs of 3 - 1 - 1 + 1 = 2 each, so 12; N = 6: 36 / (6 + 0.9333^2 * 12) = 2.1874.
    z = np.array([0.1, 0.5, 0.3])
    configurations = [dict(enumerate(expit(z + shift).tolist())) for shift in (0.0, 1.0, 2.0)]
    assert pooled_intervals(configurations, confidence=0.95).degrees == pytest.approx(36 / (6 + (2.8 / 3) ** 2 * 12))


def test_survivors_of_a_race_share_only_the_seeds_that_they_have() -> None:
    # Seeds 0, 1 for both and 2, 3 for one. m = 2, n = 2 and 4: 2 - 1 - 0.5 + 4 / 8 = 1, twice: T = 2; N = 4.
    two, four = {0: 0.80, 1: 0.82}, {0: 0.70, 1: 0.71, 2: 0.75, 3: 0.68}
    residuals = [logit(list(each.values())) - logit(list(each.values())).mean() for each in (two, four)]
    variance = sum(float((r**2).sum()) for r in residuals) / 4
    correlation = min(1, max(0, 2 * float((residuals[0] * residuals[1][:2]).sum()) / 2 / variance))
    expected = 16 / (4 + ((correlation + 0.8) / 2) ** 2 * 2)
    assert pooled_intervals([two, four], confidence=0.95).degrees == pytest.approx(expected, rel=1e-9)


def test_one_common_seed_tells_no_correlation() -> None:
    assert pooled_intervals([{0: 0.8, 1: 0.9}, {0: 0.7, 2: 0.6}], confidence=0.95).degrees == 2


def test_accuracies_of_0_and_1_are_moved_by_half_the_smallest_distance() -> None:
    # The nearest to an end is 0.98: 1 counts as 0.99, and so does 0 as 0.01.
    moved = pooled_intervals(apart([0.99, 0.98], [0.01, 0.5], [0.3]), confidence=0.95)
    found = pooled_intervals(apart([1.0, 0.98], [0.0, 0.5], [0.3]), confidence=0.95)
    assert found.std == pytest.approx(moved.std, rel=1e-9)
    assert found.intervals[0].mean == 0.99


@pytest.mark.parametrize(("value", "end"), [(1.0, "ci_high"), (0.0, "ci_low")])
def test_the_interval_of_a_mean_at_the_end_reaches_the_end(value: float, end: str) -> None:
    found = pooled_intervals(apart([value, value], [0.9, 0.8]), confidence=0.95).intervals[0]
    assert getattr(found, end) == value
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert 0 <= found.ci_low < found.ci_high <= 1


@pytest.mark.parametrize("groups", [[], [{}], [{0: 0.5}, {1: 0.6}], [{0: 1.0, 1: 1.0}], [{0: 0.5, 1: 0.5}]], ids=str)
def test_without_any_spread_there_are_means_alone(groups: list[dict[int, float]]) -> None:
    found = pooled_intervals(groups, confidence=0.95)
    assert (found.std, found.degrees, len(found.intervals)) == (None, 0, len(groups))
    assert all((i.ci_low, i.ci_high) == (None, None) for i in found.intervals)
    assert [i.mean for i in found.intervals] == [each.get(0, each.get(1)) for each in groups]


def test_a_configuration_without_runs_is_left_empty_among_others() -> None:
    found = pooled_intervals([{0: 0.5, 1: 0.6}, {}, {2: 0.7, 3: 0.6}], confidence=0.95)
    assert (found.intervals[1].mean, found.intervals[1].ci_low, found.intervals[1].n) == (None, None, 0)
    assert found.degrees == 2


def test_the_order_of_configurations_and_seeds_does_not_matter() -> None:
    draw = np.random.default_rng(0)
    groups = [dict(enumerate(draw.uniform(0.6, 0.9, n).tolist())) for n in (2, 3, 5, 2)]
    there = pooled_intervals(groups, confidence=0.95)
    back = pooled_intervals([dict(reversed(g.items())) for g in groups[::-1]], confidence=0.95)
    for one, other in zip(there.intervals, back.intervals[::-1], strict=True):
        assert (one.ci_low, one.ci_high) == pytest.approx((other.ci_low, other.ci_high), rel=1e-12)


@pytest.mark.parametrize(("n", "rho"), [(2, 0.0), (2, 0.7), (5, 0.0), (5, 0.7)])
def test_the_intervals_cover_the_mean_accuracy_with_or_without_common_seeds(n: int, rho: float) -> None:
    # 300 tables of 12 configurations; measured at length 98.1, 95.3, 95.3, 95.1 %. A table's share has a sd of at most
    # 18 % at correlation 0.7, so the mean 1.0 %: false alarm at 90 % below 1e-6. With N degrees the second has 88 %.
    draw = np.random.default_rng(1)
    at, weights = np.polynomial.hermite_e.hermegauss(40)
    hits = []
    for _ in range(300):
        centres = draw.uniform(0.4, 3.5, 12)
        noise = math.sqrt(rho) * draw.normal(size=(1, n)) + math.sqrt(1 - rho) * draw.normal(size=(12, n))
        rows = expit(centres[:, None] + 0.2 * noise)
        truth = (expit(centres[:, None] + 0.2 * at) * weights).sum(1) / weights.sum()
        found = pooled_intervals([dict(enumerate(row.tolist())) for row in rows], confidence=0.95)
        hits += [i.ci_low <= t <= i.ci_high for t, i in zip(truth, found.intervals, strict=True)]  # type: ignore[operator]
    assert np.mean(hits) >= 0.90


def test_five_thousand_configurations_take_no_time() -> None:
    draw = np.random.default_rng(2)
    groups = [dict(enumerate(row)) for row in draw.uniform(0.6, 0.9, (5000, 2)).tolist()]
    start = time.process_time()
    pooled_intervals(groups, confidence=0.95)
    assert time.process_time() - start < 1  # measured 0.02 s


@pytest.mark.parametrize("value", [-0.1, 1.01, math.nan])
def test_what_is_no_accuracy_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=f"an accuracy must be between 0 and 1, got {value}"):
        pooled_intervals([{0: 0.5, 1: value}], confidence=0.95)


def test_a_confidence_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 1"):
        pooled_intervals([], confidence=1)
