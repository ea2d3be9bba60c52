from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.signed_rank import signed_rank


@pytest.mark.parametrize("n", [3, 6, 9, 15])
@pytest.mark.parametrize("seed", range(5))
def test_p_equals_scipys_exact_test(n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.4, 1, n)
    expected = stats.wilcoxon(values, method="exact").pvalue
    assert signed_rank(values.tolist(), confidence=0.95).p == pytest.approx(expected, abs=1e-12)


def test_ties_and_zeros_are_exact_too() -> None:
    # Sizes 0, 1, 1, 2: ranks 1, 2.5, 2.5, 4; the zero is left out of the sum. Above: 2.5 + 4 = 6.5 of 9.
    values = [0.0, 1.0, -1.0, 2.0]
    sums = [sum(s) for s in itertools.product(*[(0, rank) for rank in (2.5, 2.5, 4)])]
    expected = 2 * sum(s <= 2.5 for s in sums) / 8
    assert signed_rank(values, confidence=0.5).p == pytest.approx(min(1, expected))


def test_six_sets_of_one_sign_are_the_fewest_that_are_significant() -> None:
    assert signed_rank([1, 2, 3, 4, 5], confidence=0.95).p == 2 / 2**5
    assert signed_rank([1, 2, 3, 4, 5, 6], confidence=0.95).p == 2 / 2**6


def test_the_interval_of_six_goes_from_the_smallest_to_the_largest() -> None:
    found = signed_rank([4.0, 1.0, 2.0, 8.0, 16.0, 32.0], confidence=0.95)
    assert (found.ci_low, found.ci_high) == (1.0, 32.0)


def test_five_values_have_no_interval_of_95_percent() -> None:
    found = signed_rank([1.0, 2.0, 3.0, 4.0, 5.0], confidence=0.95)
    assert (found.ci_low, found.ci_high, found.median) == (None, None, 3.0)


def test_the_interval_leaves_out_what_the_test_rejects() -> None:
    values = np.random.default_rng(1).normal(size=9)
    found = signed_rank(values.tolist(), confidence=0.95)
    for shift in np.linspace(-2, 2, 401):
        p = signed_rank((values - shift).tolist(), confidence=0.95).p
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert p is not None
        assert (found.ci_low < shift < found.ci_high) == (p > 0.05)


def test_the_median_is_that_of_the_means_of_all_pairs() -> None:
    # 1, 2, 6: means 1, 1.5, 2, 3.5, 4, 6: between 2 and 3.5.
    assert signed_rank([6.0, 1.0, 2.0], confidence=0.5).median == 2.75


def test_values_that_are_all_zero_are_no_evidence() -> None:
    assert signed_rank([0.0] * 7, confidence=0.95).p is None


def test_no_value_is_refused() -> None:
    with pytest.raises(ValueError, match="values must be at least one, got none"):
        signed_rank([], confidence=0.95)
