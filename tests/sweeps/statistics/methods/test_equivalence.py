from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.equivalence import equivalence


@pytest.mark.parametrize("shift", [0.0, 0.2, -0.3, 2.0])
def test_p_is_the_larger_of_scipys_two_one_sided_tests(shift: float) -> None:
    values = np.random.default_rng(0).normal(shift, 0.5, 8)
    expected = max(
        stats.ttest_1samp(values, -0.5, alternative="greater").pvalue,
        stats.ttest_1samp(values, 0.5, alternative="less").pvalue,
    )
    found = equivalence(values.tolist(), margin=0.5, confidence=0.95)
    assert found.p == pytest.approx(expected, abs=1e-9)


def test_the_interval_is_that_of_1_minus_2_alpha_and_decides() -> None:
    draw = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        values = draw.normal(draw.uniform(-0.6, 0.6), 0.3, 6)
        found = equivalence(values.tolist(), margin=0.5, confidence=0.95)
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.9)
        assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=1e-9)
        assert found.equivalent == (low > -0.5 and high < 0.5)
        seen.add(found.equivalent)
    assert seen == {True, False}


@pytest.mark.parametrize("n", [3, 5])
def test_a_difference_at_the_margin_is_called_none_in_at_most_5_percent(n: int) -> None:
    # 4000 tests at 5 % have a sd of 0.34 %; 5 sd: false alarm below 1e-6.
    values = np.random.default_rng(2).normal(2.0, 1.0, (4000, n)).tolist()
    claims = sum(equivalence(each, margin=2.0, confidence=0.95).equivalent for each in values)
    assert claims <= (0.05 + 0.017) * 4000


def test_a_sure_equality_is_seen() -> None:
    assert equivalence([0.001, -0.001, 0.0005, 0.0], margin=0.25, confidence=0.95).equivalent


@pytest.mark.parametrize("differences", [[], [0.0], [0.0, 0.1], [0.0, 0.0, 0.0]])
def test_differences_without_a_t_test_are_not_called_equal(differences: list[float]) -> None:
    found = equivalence(differences, margin=0.25, confidence=0.95)
    assert (found.p, found.ci_low, found.ci_high, found.equivalent) == (None, None, None, False)


@pytest.mark.parametrize("margin", [0.0, -0.25, float("nan"), float("inf")])
def test_a_margin_that_is_not_above_0_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match=f"margin must be > 0, got {margin}"):
        equivalence([0.1, 0.2, 0.3], margin=margin, confidence=0.95)
