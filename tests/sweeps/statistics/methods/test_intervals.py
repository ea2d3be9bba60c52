from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.corrections import corrected
from setsweep.sweeps.statistics.methods.intervals import CutInterval, cut_to, mean_interval, paired_difference


def test_the_interval_of_a_worked_example_is_the_textbooks() -> None:
    # 1, 2, 3: mean 2, s = 1, t(0.975; 2) = 4.302653 (any table of Student's t), half-width 4.302653 / sqrt(3).
    interval = mean_interval([1.0, 2.0, 3.0], confidence=0.95)
    assert interval.mean == 2.0
    assert interval.std == 1.0
    assert interval.ci_low == pytest.approx(2 - 2.484138, abs=1e-6)
    assert interval.ci_high == pytest.approx(2 + 2.484138, abs=1e-6)
    assert interval.n == 3


@pytest.mark.parametrize("n", [2, 3, 5, 10, 100])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_intervals_equal_those_of_scipy(n: int, confidence: float) -> None:
    draw = random.Random(n)
    values = [draw.gauss(0.93, 0.01) for _ in range(n)]
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(confidence)
    interval = mean_interval(values, confidence=confidence)
    assert interval.ci_low == pytest.approx(expected.low, rel=1e-12)
    assert interval.ci_high == pytest.approx(expected.high, rel=1e-12)


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    # 4000 intervals at 0.9: the number of hits has sd sqrt(4000 * 0.09) = 19; 5 sd off: false alarm below 1e-6.
    draw = random.Random(0)
    hits = 0
    for _ in range(4000):
        interval = mean_interval([draw.gauss(3, 2) for _ in range(5)], confidence=0.9)
        assert interval.ci_low is not None
        assert interval.ci_high is not None
        hits += interval.ci_low <= 3 <= interval.ci_high
    assert abs(hits - 3600) < 95


def test_one_value_has_a_mean_but_no_interval() -> None:
    interval = mean_interval([0.5], confidence=0.95)
    assert (interval.mean, interval.ci_low, interval.ci_high, interval.std, interval.n) == (0.5, None, None, None, 1)


def test_no_value_has_no_mean() -> None:
    assert mean_interval([], confidence=0.95).mean is None


def test_equal_values_have_an_interval_of_exactly_no_width() -> None:
    # 0.1 + 0.1 + 0.1 is not 0.3 in floating point.
    interval = mean_interval([0.1, 0.1, 0.1], confidence=0.95)
    assert (interval.mean, interval.ci_low, interval.ci_high, interval.std) == (0.1, 0.1, 0.1, 0.0)


def test_the_order_of_values_does_not_change_a_bit() -> None:
    values = [0.1, 0.7, 1e-9, 0.3, 1e5, 0.2]
    assert mean_interval(values, confidence=0.95) == mean_interval(values[::-1], confidence=0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -0.1])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"confidence must be between 0 and 1, got {confidence}"):
        mean_interval([1.0], confidence=confidence)


def test_differences_are_paired_by_seed_as_in_scipy() -> None:
    draw = random.Random(1)
    baseline = {seed: draw.gauss(0.9, 0.05) for seed in range(8)}
    values = {seed: value + draw.gauss(0.005, 0.004) for seed, value in baseline.items()}
    expected = stats.ttest_rel(list(values.values()), list(baseline.values()))
    found = paired_difference(dict(reversed(values.items())), baseline, confidence=0.95)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.ci_low == pytest.approx(expected.confidence_interval(0.95).low, rel=1e-9)
    assert found.ci_high == pytest.approx(expected.confidence_interval(0.95).high, rel=1e-9)
    assert found.n == 8


def test_only_seeds_that_both_have_are_compared() -> None:
    found = paired_difference({1: 0.5, 2: 0.75, 3: 9.0}, {0: 7.0, 1: 0.25, 2: 0.5}, confidence=0.95)
    assert found.n == 2
    assert found.difference == 0.25


def test_the_spread_of_the_differences_is_that_of_scipy() -> None:
    found = paired_difference({0: 1.0, 1: 2.0, 2: 6.0}, {0: 0.0, 1: 0.0, 2: 0.0}, confidence=0.95)
    # 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14, over 2.
    assert found.std == pytest.approx(math.sqrt(7), rel=1e-12)


@pytest.mark.parametrize("common", [0, 1, 2])
def test_fewer_than_three_common_seeds_give_neither_test_nor_interval(common: int) -> None:
    found = paired_difference({0: 1.0, 1: 3.0}, dict.fromkeys(range(common), 0.5), confidence=0.95)
    assert (found.n, found.p, found.ci_low, found.ci_high) == (common, None, None, None)
    assert found.difference == {0: None, 1: 0.5, 2: 1.5}[common]
    assert (found.std is None) == (common < 2)


@pytest.mark.parametrize("difference", [0.0, 0.125])
def test_differences_that_are_all_equal_are_no_evidence(difference: float) -> None:
    found = paired_difference(dict.fromkeys(range(5), 0.5 + difference), dict.fromkeys(range(5), 0.5), confidence=0.95)
    assert (found.difference, found.std, found.n) == (difference, 0.0, 5)
    assert (found.ci_low, found.ci_high, found.p) == (None, None, None)


def test_differences_that_only_rounding_tells_apart_count_as_equal() -> None:
    # 0.7 - 0.4 and 0.6 - 0.3 are not the same number in floating point.
    found = paired_difference({0: 0.7, 1: 0.6, 2: 0.5}, {0: 0.4, 1: 0.3, 2: 0.2}, confidence=0.95)
    assert found.std is not None
    assert 0 < found.std < 1e-15
    assert found.p is None


@pytest.mark.parametrize("n", [2, 3, 4])
def test_counts_that_agree_by_chance_claim_no_more_than_5_percent_of_families(n: int) -> None:
    # 27 tests without a difference, accuracies of 360 images with a sd of 3.2 images. Taking equal differences for
    # certain claims one in 79 % of families at n = 2 and 11 % at 3. Measured at length: 0.0, 0.1, 4.4 %; 400
    # families have a sd of 1 % at n = 4: false alarm at 9 % below 1e-5.
    draw = random.Random(n)
    claims = 0
    for _ in range(400):
        families = [_counts(draw, n) for _ in range(27)]
        p_values = [paired_difference(a, b, confidence=0.95).p for a, b in families]
        claims += any(p is not None and p < 0.05 for p in corrected(p_values, "holm"))
    assert claims <= 0.09 * 400


def _counts(draw: random.Random, n: int) -> tuple[dict[int, float], dict[int, float]]:
    one, other = ({seed: round(draw.gauss(330, 3.2)) / 360 for seed in range(n)} for _ in range(2))
    return one, other


def test_an_interval_inside_its_range_is_not_cut() -> None:
    assert cut_to(0.25, 0.75) == CutInterval(ci_low=0.25, ci_high=0.75, cut=False)
    assert cut_to(0.0, 1.0).cut is False


@pytest.mark.parametrize(("interval", "expected"), [((-0.1, 0.5), (0, 0.5)), ((0.5, 1.1), (0.5, 1)), ((-1, 2), (0, 1))])
def test_an_interval_that_leaves_its_range_is_cut(interval: tuple[float, float], expected: tuple[float, float]) -> None:
    found = cut_to(*interval)
    assert (found.ci_low, found.ci_high, found.cut) == (*expected, True)


def test_the_range_of_a_set_size_is_its_own() -> None:
    assert cut_to(0.5, 3, low=1, high=10) == CutInterval(ci_low=1, ci_high=3, cut=True)


@pytest.mark.parametrize("low_high", [(1.0, 0.0), (0.5, 0.5)])
def test_a_range_without_width_is_refused(low_high: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"low must be < high, got"):
        cut_to(0.2, 0.4, low=low_high[0], high=low_high[1])


def test_an_interval_outside_the_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"an interval must meet the range 0.0 to 1.0, got 1.5 to 2.0"):
        cut_to(1.5, 2.0)
