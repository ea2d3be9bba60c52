from __future__ import annotations

import random

import pytest
from scipy import stats

from setsweep.sweeps.statistics.intervals import corrected, mean_interval, paired_difference


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


def test_equal_nonzero_differences_are_certain() -> None:
    found = paired_difference({0: 2.0, 1: 3.0}, {0: 1.0, 1: 2.0}, confidence=0.95)
    assert (found.difference, found.ci_low, found.ci_high, found.p) == (1.0, 1.0, 1.0, 0.0)


def test_no_difference_at_all_has_p_1() -> None:
    assert paired_difference({0: 0.3, 1: 0.4}, {0: 0.3, 1: 0.4}, confidence=0.95).p == 1.0


@pytest.mark.parametrize("common", [0, 1])
def test_fewer_than_two_common_seeds_give_no_test(common: int) -> None:
    found = paired_difference({0: 1.0, 1: 2.0}, {1: 1.0} if common else {}, confidence=0.95)
    assert (found.n, found.p, found.ci_low) == (common, None, None)
    assert found.difference == (1.0 if common else None)


def test_holm_of_a_worked_example_is_the_textbooks() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to 0.06 to keep the order.
    assert corrected([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_multiplies_by_the_number_of_tests_and_stops_at_1() -> None:
    assert corrected([0.01, 0.5, 0.03], "bonferroni") == pytest.approx([0.03, 1.0, 0.09])


def test_no_correction_leaves_p_values_as_they_are() -> None:
    assert corrected([0.5, 0.01], "none") == [0.5, 0.01]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_a_missing_p_value_does_not_count_and_stays_missing(correction: str) -> None:
    alone = corrected([0.01, 0.02], correction)  # type: ignore[arg-type]
    assert corrected([None, 0.01, None, 0.02], correction) == [None, alone[0], None, alone[1]]  # type: ignore[arg-type]


def test_holm_is_between_none_and_bonferroni_and_keeps_the_order() -> None:
    draw = random.Random(2)
    p_values = [draw.random() ** 4 for _ in range(30)]
    holm, bonferroni = corrected(p_values, "holm"), corrected(p_values, "bonferroni")
    assert all(p <= h <= b for p, h, b in zip(p_values, holm, bonferroni, strict=True) if h and b)
    assert sorted(range(30), key=lambda i: (holm[i], p_values[i])) == sorted(range(30), key=lambda i: p_values[i])


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(ValueError, match="correction must be holm, bonferroni or none, got 'fdr'"):
        corrected([0.1], "fdr")  # type: ignore[arg-type]
