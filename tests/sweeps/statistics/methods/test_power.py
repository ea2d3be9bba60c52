from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.power import detectable, power


def test_without_an_effect_the_power_is_alpha() -> None:
    assert power(0.0, 5, alpha=0.05) == pytest.approx(0.05, abs=1e-9)


def test_the_power_is_the_share_of_significant_tests() -> None:
    # 20000 tests: sd at most 0.35 %; 5 sd: false alarm below 1e-6.
    values = np.random.default_rng(0).normal(1.0, 1.0, (20000, 6))
    share = (stats.ttest_1samp(values, 0, axis=1).pvalue < 0.05).mean()
    assert abs(power(1.0, 6, alpha=0.05) - share) < 0.018


def test_the_sign_of_the_effect_does_not_matter() -> None:
    assert power(-0.7, 8, alpha=0.05) == power(0.7, 8, alpha=0.05)


@pytest.mark.parametrize("n", [3, 5, 10, 30])
@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95])
def test_the_detectable_difference_is_detected_with_the_power_wanted(n: int, wanted: float) -> None:
    assert power(detectable(n, alpha=0.05, power_wanted=wanted), n, alpha=0.05) == pytest.approx(wanted, abs=1e-9)


def test_five_seeds_see_differences_from_1_7_standard_deviations() -> None:
    # G*Power 3.1 and statsmodels: n = 5 has power 0.80 at d_z = 1.682.
    assert detectable(5, alpha=0.05) == pytest.approx(1.682, abs=5e-4)


def test_more_seeds_see_smaller_and_more_tests_see_only_larger_differences() -> None:
    assert detectable(10, alpha=0.05) < detectable(5, alpha=0.05) < detectable(5, alpha=0.05 / 9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_numbers_of_seeds_without_a_test_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"n must be >= 3, got {n}"):
        power(1.0, n, alpha=0.05)
    with pytest.raises(ValueError, match=f"n must be >= 3, got {n}"):
        detectable(n, alpha=0.05)


@pytest.mark.parametrize("wanted", [0.05, 1.0, 80.0, math.nan])
def test_a_power_below_alpha_or_of_certainty_is_refused(wanted: float) -> None:
    with pytest.raises(ValueError, match=f"power_wanted must be between alpha = 0.05 and 1, got {wanted}"):
        detectable(5, alpha=0.05, power_wanted=wanted)


def test_an_alpha_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha must be between 0 and 1, got 5"):
        power(1.0, 5, alpha=5)
