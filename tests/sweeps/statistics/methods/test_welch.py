"""Differences of independent means."""

from __future__ import annotations

import pytest

from setsweep.sweeps.statistics.methods.welch import independent_difference


def test_two_samples_by_hand() -> None:
    """1, 2, 3 and 2, 4, 6, 8: means 2 and 5, squared errors 1/3 and (20/3)/4 = 5/3, so t = -3 / sqrt(2) = -2.1213.

    nu = 4 / ((1/9)/2 + (25/9)/3) = 4 / (53/54) = 4.0755; of t with that many degrees, 2 P(T > 2.1213) = 0.09991.
    """
    found = independent_difference([1.0, 2.0, 3.0], [2.0, 4.0, 6.0, 8.0], confidence=0.95)
    assert found.difference == -3.0
    assert found.p == pytest.approx(0.09991, abs=5e-6)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert (found.ci_low + found.ci_high) / 2 == pytest.approx(-3.0)


def test_it_is_scipys() -> None:
    from scipy.stats import ttest_ind

    first, second = [0.51, 0.56, 0.53, 0.5, 0.58], [0.49, 0.5, 0.47, 0.52]
    found = independent_difference(first, second, confidence=0.9)
    told = ttest_ind(first, second, equal_var=False)
    interval = told.confidence_interval(0.9)
    assert found.p == pytest.approx(told.pvalue, rel=1e-12)
    assert (found.ci_low, found.ci_high) == pytest.approx((interval.low, interval.high), rel=1e-12)


@pytest.mark.parametrize("second", [[0.4], [0.4, 0.5], [0.4, 0.4, 0.4]])
def test_few_or_equal_values_have_no_test(second: list[float]) -> None:
    found = independent_difference([0.5, 0.6, 0.7], second, confidence=0.95)
    assert found.difference is not None
    assert (found.ci_low, found.ci_high, found.p) == (None, None, None)


def test_a_side_without_values_has_no_difference() -> None:
    assert independent_difference([], [0.1], confidence=0.95).difference is None
