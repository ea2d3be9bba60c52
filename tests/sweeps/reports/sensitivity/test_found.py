"""What is looked at in which scores: curves of designs, edges of searches, failures where there are any."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.reports.sensitivity.found import look_at
from setsweep.sweeps.statistics.sensitivity.scale import Scale

NAN = math.nan
HILL = [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.60, 0.62, 0.62]]


def test_one_hyperparameter_has_its_curve_plateau_and_test_of_any_effect(tried: Any) -> None:
    found = look_at(tried(HILL), confidence=0.95)
    (one,) = found.along
    assert one.curve is not None
    assert one.curve.mean == pytest.approx((1.53 / 3, 2.14 / 3, 1.84 / 3))
    assert one.plateau is not None
    assert (one.plateau.best, one.plateau.default_inside) == (1.0, True)
    assert one.no_effect is not None
    assert one.no_effect < 0.001  # rows lie 10 points apart, seeds 3
    assert (one.over, one.rates, one.cliff, one.at_edge, found.equal, found.top) == ({}, (), None, None, None, None)
    assert found.shares is not None
    assert found.advice is not None


def test_what_is_undefined_is_left_out_with_its_reason(tried: Any) -> None:
    found = look_at(tried([[0.5], [0.7], [0.6]]), confidence=0.95)
    (one,) = found.along
    assert (one.plateau, found.shares, found.advice) == (None, None, None)
    assert "2 seeds" in found.no_shares
    assert one.reason
    assert one.curve is not None
    assert one.curve.mean == (0.5, 0.7, 0.6)


def test_the_combinations_of_two_are_told_from_the_best_and_each_curve_says_what_it_is_a_mean_over(tried: Any) -> None:
    scores = [[0.50, 0.51, 0.52], [0.70, 0.71, 0.72], [0.60, 0.61, 0.62], [0.70, 0.71, 0.73]]
    found = look_at(tried(scores, alphas=(1.0, 10.0), sizes=(16, 64)), confidence=0.95)
    assert found.equal == ((False, True, False, True), 3)
    assert [dict(one.over) for one in found.along] == [{"training.batch_size": (16, 64)}, {"alpha": (1.0, 10.0)}]


def test_a_combination_of_which_a_run_failed_is_never_as_good_as_the_best(tried: Any) -> None:
    # Of 4 rows and 5 seeds the largest part without a hole is 4 x 4: without the seed, not without the row.
    rest = [0.02, 0.01, 0.0, 0.01]
    scores = [[mean, *(mean + each for each in rest)] for mean in (0.5, 0.7, 0.6)] + [[NAN, 0.91, 0.93, 0.92, 0.92]]
    found = look_at(tried(scores, alphas=(1.0, 10.0), sizes=(16, 64)), confidence=0.95)
    assert found.equal is not None
    members, best = found.equal
    assert (members[3], best) == (False, 1)


@pytest.mark.parametrize(
    ("best", "edge"),
    [(0.1, "low"), (0.109, "low"), (0.111, None), (1.0, None), (9.0, None), (9.2, "high"), (10.0, "high")],
)
def test_a_best_trial_within_2_percent_of_the_range_is_at_its_edge(tried: Any, best: float, edge: str | None) -> None:
    # 2 % of the two decades from 0.1 to 10 are 0.04 of one: 0.1 x 10^0.04 = 0.1096, 10 / 10^0.04 = 9.12.
    alphas = sorted({best, 0.5, 2.0})
    scores = [[0.8] if alpha == best else [0.7] for alpha in alphas]
    plain = tried(scores, alphas=alphas, designed=False)
    (alpha,) = plain.dimensions
    declared = replace(alpha, scale=Scale(kind="log", low=0.1, high=10))
    (one,) = look_at(replace(plain, dimensions=(declared,)), confidence=0.95).along
    assert (one.at_edge, one.curve, one.plateau) == (edge, None, None)


def test_the_best_trial_of_a_race_is_that_of_the_seeds_that_all_have(tried: Any) -> None:
    # On both seeds alpha 10 has the best mean, 0.7; on the first, which all have, it is alpha 0.1.
    failed = [[0, NAN], [0, NAN], [0, 0]]
    raced = tried([[0.6, NAN], [0.4, NAN], [0.5, 0.9]], failed=failed, designed=False)
    assert look_at(raced, confidence=0.95).along[0].at_edge == "low"


def test_names_have_no_edge(tried: Any) -> None:
    plain = tried([[0.8], [0.7], [0.6]], alphas=(0.1, 1.0, 10.0), designed=False)
    (alpha,) = plain.dimensions
    named = replace(alpha, scale=Scale(kind="order", values=alpha.values))
    (one,) = look_at(replace(plain, dimensions=(named,)), confidence=0.95).along
    assert one.at_edge is None


def test_a_search_none_of_whose_trials_has_a_number_has_no_edge(tried: Any) -> None:
    (one,) = look_at(tried(np.full((3, 2), NAN), designed=False), confidence=0.95).along
    assert one.at_edge is None
    assert sum(rate.failed for rate in one.rates) == 6


def test_failures_have_rates_and_their_value_is_off_the_plateau(tried: Any) -> None:
    found = look_at(tried([[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.80, 0.82, NAN]]), confidence=0.95)
    (one,) = found.along
    assert [(rate.failed, rate.runs) for rate in one.rates] == [(0, 3), (0, 3), (1, 3)]
    assert one.cliff is not None
    assert one.cliff.side == "high"
    assert one.plateau is not None
    assert (one.plateau.best, one.plateau.failing) == (1.0, (10.0,))
