from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.sensitivity.two_way import accuracies, fit_two_way, logits


def test_logits_of_known_counts_have_half_an_example_more_on_each_side() -> None:
    # 10 of 10 right: log(10.5 / 0.5); 5 of 10: 0.
    assert logits([1.0, 0.5, 0.0], examples=10).tolist() == pytest.approx([np.log(21), 0, -np.log(21)])


def test_without_counts_only_accuracies_of_exactly_0_and_1_move() -> None:
    # The smallest step between 0, 1 and the accuracies is 0.004: half of it is 0.002.
    found = logits([1.0, 0.996, 0.9, 0.0])
    assert accuracies(found).tolist() == pytest.approx([0.998, 0.996, 0.9, 0.002])


def test_accuracies_of_0_and_1_alone_are_finite() -> None:
    assert accuracies(logits([1.0, 0.0])).tolist() == pytest.approx([0.995, 0.005])


def test_a_missing_accuracy_has_no_logit() -> None:
    assert np.isnan(logits([0.5, np.nan])).tolist() == [False, True]
    assert np.isnan(logits([0.5, np.nan], examples=10)).tolist() == [False, True]


@pytest.mark.parametrize("wrong", [-0.1, 1.2, 93.0])
def test_what_is_no_accuracy_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=f"accuracies must be between 0 and 1, got {wrong:g}"):
        logits([0.5, wrong])


def test_accuracies_of_no_examples_are_refused() -> None:
    with pytest.raises(ValueError, match="examples must be >= 1, got 0"):
        logits([0.5], examples=0)


def test_the_f_test_of_two_values_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(0)
    z = draw.normal(size=(2, 6)) + 2
    expected = stats.ttest_rel(z[0], z[1]).pvalue
    assert fit_two_way(accuracies(z)).p_no_effect() == pytest.approx(expected, rel=1e-6)


def test_the_mean_squares_are_the_textbooks() -> None:
    # z = [[0, 1, 2], [2, 3, 4], [1, 3, 5]]: means 1, 3, 3 and 1, 7/3, 11/3, of all 7/3. Between values 3 (16/9 + 4/9 +
    # 4/9) / 2 = 4, between seeds 3 (16/9 + 0 + 16/9) / 2 = 16/3, residual (4 of +-1/3, 2 of +-2/3: 12/9) / 4 = 1/3.
    model = fit_two_way(accuracies([[0, 1, 2], [2, 3, 4], [1, 3, 5]]))
    assert model.means.tolist() == pytest.approx([1, 3, 3])
    assert (model.of_values, model.of_seeds) == (pytest.approx(4), pytest.approx(16 / 3))
    assert (model.residual, model.degrees) == (pytest.approx(1 / 3), 4)


def test_a_table_with_holes_is_fitted_to_its_complete_part() -> None:
    z = np.random.default_rng(1).normal(size=(4, 5))
    holed = accuracies(z)
    holed[2] = np.nan
    model = fit_two_way(holed)
    assert model.values.tolist() == [0, 1, 3]
    assert model.means.tolist() == pytest.approx(z[[0, 1, 3]].mean(axis=1).tolist())


@pytest.mark.parametrize("scores", [[[0.5, 0.6]], [[0.5], [0.6]], [[0.5, np.nan], [np.nan, 0.6]]])
def test_fewer_than_two_values_or_seeds_are_refused(scores: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="a two-way table must have 2 values and 2 seeds without holes at least, got"):
        fit_two_way(scores)


def test_seeds_that_move_all_values_alike_leave_nothing_to_test_against() -> None:
    with pytest.raises(ValueError, match="differences between values must vary over seeds by 1e-09 at least"):
        fit_two_way([[0.5, 0.5, 0.5], [0.6, 0.6, 0.6]])
