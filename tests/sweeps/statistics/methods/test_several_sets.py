from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.intervals import PairedDifference, paired_difference
from setsweep.sweeps.statistics.methods.several_sets import combined, mean_of_sets
from setsweep.sweeps.statistics.methods.signed_rank import signed_rank


def of_seeds(values: list[float]) -> PairedDifference:
    return paired_difference(dict(enumerate(values)), dict.fromkeys(range(len(values)), 0.0), confidence=0.95)


def sets(draw: np.random.Generator, k: int, n: int = 5, between: float = 0.0) -> list[PairedDifference]:
    scale = np.exp(0.7 * draw.normal(size=(k, 1)))
    values = between * draw.normal(size=(k, 1)) + scale * draw.normal(size=(k, n))
    return [of_seeds(row) for row in values.tolist()]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_few_sets_have_the_t_interval_of_their_differences(k: int) -> None:
    given = sets(np.random.default_rng(k), k, between=1.0)
    expected = stats.ttest_1samp([each.difference for each in given], 0.0)
    found = combined(given, confidence=0.9)
    low, high = expected.confidence_interval(0.9)
    assert (found.method, found.sets) == ("mean", k)
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_spread_between_sets_is_what_seeds_do_not_explain() -> None:
    # Differences 1, 3, 5: variance 4. Seeds: 1 +- 1 of three has variance 1, over 3; thrice: 4 - 1 / 3.
    given = [of_seeds([centre - 1, centre, centre + 1]) for centre in (1.0, 3.0, 5.0)]
    assert combined(given, confidence=0.95).between == pytest.approx(math.sqrt(4 - 1 / 3), rel=1e-9)
    given = [of_seeds([centre - 9, centre, centre + 9]) for centre in (1.0, 3.0, 5.0)]
    assert combined(given, confidence=0.95).between == 0.0


def test_sets_of_one_seed_tell_no_spread_between_sets() -> None:
    found = combined([of_seeds([1.0]), of_seeds([2.0, 3.0])], confidence=0.95)
    assert found.between is None
    assert found.ci_low is not None


@pytest.mark.parametrize("k", [6, 9])
def test_from_six_sets_on_ranks_decide(k: int) -> None:
    given = sets(np.random.default_rng(k), k)
    ranks = signed_rank([each.difference for each in given if each.difference is not None], confidence=0.95)
    found = combined(given, confidence=0.95)
    assert (found.method, found.sets) == ("signed_rank", k)
    assert (found.difference, found.ci_low, found.ci_high, found.p) == (
        ranks.median,
        ranks.ci_low,
        ranks.ci_high,
        ranks.p,
    )


def test_equal_differences_have_a_mean_alone() -> None:
    found = combined([of_seeds([0.25, 0.75])] * 3, confidence=0.95)
    assert (found.difference, found.ci_low, found.ci_high, found.p) == (0.5, None, None, None)


@pytest.mark.parametrize(("k", "between"), [(2, 0.0), (3, 0.0), (3, 1.5), (5, 0.5)])
def test_the_mean_covers_as_often_as_it_says(k: int, between: float) -> None:
    # 2000 intervals at 95 %: sd 0.49 %; 5 sd: false alarm below 1e-6. Weighted by variances they cover 88 to 94 %.
    draw = np.random.default_rng(3)
    found = [mean_of_sets(sets(draw, k, between=between), confidence=0.95) for _ in range(2000)]
    assert np.mean([each.ci_low <= 0 <= each.ci_high for each in found]) >= 0.95 - 0.0245  # type: ignore[operator]


@pytest.mark.parametrize("count", [0, 1])
def test_one_set_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"sets must be >= 2, got {count}"):
        combined([of_seeds([1.0, 2.0])] * count, confidence=0.95)


def test_a_set_without_a_difference_is_refused() -> None:
    with pytest.raises(ValueError, match="every set must have a difference, got none for number 1"):
        combined([of_seeds([1.0, 2.0]), of_seeds([])], confidence=0.95)
