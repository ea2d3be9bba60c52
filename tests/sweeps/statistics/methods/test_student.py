"""Student's t, against SciPy and by hand; and where no t statistic is defined."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.student import (
    check_confidence,
    is_below_level,
    mean_and_std,
    noncentral_t,
    sample_of,
    t_quantile,
    t_tail,
)


def test_a_sample_by_hand() -> None:
    """1, 2, 6: mean 3, squares 4 + 1 + 9 = 14 over 2, so that t = 3 / sqrt(7 / 3)."""
    sample = sample_of([1.0, 2.0, 6.0])
    assert sample is not None
    assert (sample.mean, sample.n, sample.degrees) == (3.0, 3, 2)
    assert sample.std == pytest.approx(math.sqrt(7))
    assert sample.t == pytest.approx(3 / math.sqrt(7 / 3))
    assert sample.t == pytest.approx(stats.ttest_1samp([1.0, 2.0, 6.0], 0).statistic)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [0.25] * 5, [0.1, 0.1 + 1e-12, 0.1 - 1e-12]])
def test_two_values_or_equal_ones_have_no_t_statistic(values: list[float]) -> None:
    assert sample_of(values) is None


def test_equal_values_have_no_spread_whatever_the_rounding_of_their_sum() -> None:
    assert mean_and_std([0.1] * 7) == (0.1, 0.0)


def test_mean_and_spread_do_not_depend_on_the_order() -> None:
    values = [0.1, 1e9, -1e9, 0.3, 0.7]
    assert mean_and_std(values) == mean_and_std(sorted(values))


@pytest.mark.parametrize("degrees", [1, 2, 9, 29.5, 1000])
def test_quantile_and_tail_are_those_of_scipy_and_inverse_to_each_other(degrees: float) -> None:
    quantile = t_quantile(0.975, degrees)
    assert quantile == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-12)
    assert t_tail(quantile, degrees) == pytest.approx(0.025, rel=1e-9)


def test_the_noncentral_tail_is_that_of_scipy_and_ends_at_0_and_1() -> None:
    assert noncentral_t(2.0, 9, 1.5) == pytest.approx(stats.nct.cdf(2.0, 9, 1.5), rel=1e-9)
    assert noncentral_t(-1e4, 9, 40.0) == 0.0
    assert noncentral_t(1e4, 9, 40.0) == 1.0


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan])
def test_a_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"^confidence must be between 0 and 1, got {confidence}.$"):
        check_confidence(confidence)


@pytest.mark.parametrize(("p", "below"), [(0.049, True), (0.05, False), (0.051, False), (None, False)])
def test_a_p_at_the_level_is_not_below_it(p: float | None, below: bool) -> None:
    """1 - 0.95 is a little more than 0.05 in floating point, so that a difference would say the opposite."""
    assert is_below_level(p, 0.95) is below
