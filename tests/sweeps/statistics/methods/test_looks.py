from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr

from setsweep.sweeps.statistics.methods.looks import overall_p, planned_looks


@pytest.mark.parametrize(
    ("looks", "constant"),
    # Jennison and Turnbull (2000), table 2.1, alpha = 0.05: the constants of normal statistics.
    [(1, 1.960), (2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)],
)
def test_looks_at_hundreds_of_seeds_have_pococks_constants(looks: int, constant: float) -> None:
    found = planned_looks([100 * (i + 1) for i in range(looks)], confidence=0.95)
    assert stats.norm.isf(found.level / 2) == pytest.approx(constant, abs=2.5e-3)
    assert found.confidence == 1 - found.level


@pytest.mark.parametrize("looks", [(5, 10), (3, 6, 9, 12), (5, 10, 15, 20), (3, 4, 5, 6), (4, 5, 30)])
def test_the_overall_p_is_the_share_of_simulated_comparisons(looks: tuple[int, ...]) -> None:
    # 200000 comparisons at about 5 % have a sd of 0.05 %; 4.5 sd: false alarm below 1e-5.
    values = np.random.default_rng(0).normal(size=(200_000, looks[-1]))
    sums, squares = values.cumsum(1), (values**2).cumsum(1)
    smallest = np.ones(len(values))
    for n in looks:
        mean = sums[:, n - 1] / n
        error = np.sqrt((squares[:, n - 1] / n - mean**2) / (n - 1))
        smallest = np.minimum(smallest, 2 * stdtr(n - 1, -np.abs(mean / error)))
    assert abs(overall_p(0.018, looks) - (smallest < 0.018).mean()) < 0.0023


def test_one_look_is_an_ordinary_test() -> None:
    assert planned_looks([10], confidence=0.95).level == pytest.approx(0.05, abs=1e-9)
    assert overall_p(0.03, [10]) == pytest.approx(0.03, abs=1e-9)


def test_the_overall_p_is_alpha_at_the_level() -> None:
    found = planned_looks([5, 10, 15, 20], confidence=0.9)
    assert overall_p(found.level, found.looks) == pytest.approx(0.1, abs=1e-6)


def test_more_looks_ask_for_more() -> None:
    levels = [planned_looks(range(5, 5 + 2 * looks, 2), confidence=0.95).level for looks in (1, 2, 5, 10)]
    assert levels == sorted(levels, reverse=True)
    assert all(0.05 / looks < level for looks, level in zip((2, 5, 10), levels[1:], strict=True))


@pytest.mark.parametrize("p", [1e-12, 1e-4, 0.02, 0.3, 0.9])
def test_the_overall_p_is_between_the_smallest_and_that_times_the_looks(p: float) -> None:
    found = [overall_p(p, looks) for looks in ((5,), (5, 10), (5, 10, 15), (5, 8, 10, 15))]
    assert found == sorted(found)
    assert all(p <= each <= min(1, p * k) for k, each in enumerate(found, start=1))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_p_values_stay(p: float) -> None:
    assert overall_p(p, [5, 10]) == p


def test_planned_looks_keep_5_percent_where_naive_ones_have_13() -> None:
    # 5000 comparisons without a difference, looks at 5, 10, 15, 20. sd 0.5 and 0.3 %:
    # false alarm below 1e-5.
    values = np.random.default_rng(0).normal(size=(5000, 20))
    looks = (5, 10, 15, 20)
    p = np.stack([stats.ttest_1samp(values[:, :n], 0, axis=1).pvalue for n in looks]).min(0)
    assert 0.11 < (p < 0.05).mean() < 0.16
    assert 0.036 < (p < planned_looks(looks, confidence=0.95).level).mean() < 0.064


@pytest.mark.parametrize("looks", [[], [2, 5], [5, 5], [10, 5], [5, 1001]])
def test_looks_that_are_not_ascending_from_3_are_refused(looks: list[int]) -> None:
    with pytest.raises(ValueError, match="looks must be ascending numbers of seeds from 3 to 1000, got"):
        planned_looks(looks, confidence=0.95)


def test_a_p_value_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a p-value must be between 0 and 1, got 1.5"):
        overall_p(1.5, [5])
