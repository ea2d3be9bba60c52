"""Whether a study says anything, where runs fail, and where to spend the next runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.found import look_at
from setsweep.sweeps.reports.sensitivity.health_sentences import health_sentences
from setsweep.sweeps.statistics.sensitivity.failures import Cliff, FailureRate
from setsweep.sweeps.statistics.sensitivity.health import Advice

NAN = math.nan
HILL = [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.60, 0.62, 0.62]]


def advice(more: Any, **fields: Any) -> Advice:
    given = {"gain_of_seeds": 0.0021, "gain_of_trials": 0.0013, "reliability": 0.914, "p": 0.0004, **fields}
    return Advice(more=more, **given)


def rate(first: int, last: int, failed: int, runs: int) -> FailureRate:
    return FailureRate(first=first, last=last, failed=failed, runs=runs, rate=failed / runs, low=0.094, high=0.912)


def test_of_a_sound_study_the_share_of_the_configurations_alone_is_told(tried: Any, nothing: Any) -> None:
    found = replace(look_at(tried(HILL), confidence=0.95), advice=advice("seeds"))
    assert [*health_sentences(found, nothing)] == [
        "91 % of the variance of these means is the configurations' own.",
    ]


def test_runs_of_too_large_sets_are_told_with_the_bound_in_labels(tried: Any, nothing: Any) -> None:
    told = [*health_sentences(look_at(tried(HILL, too_large=2), confidence=0.95), nothing)]
    assert told[0].startswith("2 runs count as failed, as their sets hold more than 1.2 x 2 labels on average: ")


@pytest.mark.parametrize(("p", "said"), [(0.051, True), (0.05, False), (None, False)])
def test_no_effect_is_said_where_the_test_has_not_the_confidence(tried: Any, nothing: Any, p: Any, said: bool) -> None:
    found = replace(look_at(tried(HILL), confidence=0.95), advice=None)
    found = replace(found, along=(replace(found.along[0], no_effect=p),))
    told = [*health_sentences(found, nothing)]
    expected = "no effect of alpha is seen (F test, p = 0.051), which is not to say that there is none."
    assert told == ([expected] if said else [])


def test_a_best_trial_at_an_end_of_the_range_asks_for_a_wider_one(tried: Any, nothing: Any) -> None:
    found = look_at(tried(HILL[::-1][1:] + HILL[:1], designed=False), confidence=0.95)
    told = [*health_sentences(replace(found, advice=None), nothing)]
    assert told == [
        "the best configuration lies at the low end of the range of alpha: a wider range may hold a better one."
    ]


@pytest.mark.parametrize(("p", "cliff"), [(0.05, True), (0.06, False)])
def test_a_cliff_is_told_where_it_is_no_chance_and_rates_else(tried: Any, nothing: Any, p: float, cliff: bool) -> None:
    found = replace(look_at(tried(HILL), confidence=0.95), advice=None)
    rates = (rate(0, 1, 0, 6), rate(2, 2, 3, 3))
    there = Cliff(side="high", below=1, above=2, failing=rates[1], elsewhere=rates[0], p=p)
    found = replace(found, along=(replace(found.along[0], rates=rates, cliff=there),))
    (told,) = health_sentences(found, nothing)
    if cliff:
        assert told == (
            "runs fail on the high side of alpha: a cliff between 1 and 10 (p = 0.050): 3 of 3 fail there, 9 to 91 %, "
            "and 0 of 6 elsewhere, 9 to 91 %."
        )
    else:
        assert told == "failures over alpha, no cliff: 0.1 to 1: 0 of 6, 10: 3 of 3."


def test_of_a_grid_of_two_the_combinations_count_where_they_depend_on_each_other(tried: Any, nothing: Any) -> None:
    # Of the crossed ones, 10 points up or down by the pair alone beside a tenth of a point by seed: 100 %.
    crossed = [[0.700, 0.701, 0.702], [0.500, 0.502, 0.501], [0.500, 0.501, 0.503], [0.700, 0.701, 0.703]]
    alike = [[0.50, 0.51, 0.52], [0.60, 0.61, 0.62], [0.60, 0.61, 0.63], [0.70, 0.71, 0.72]]
    told = []
    for scores in (crossed, alike):
        found = look_at(tried(scores, alphas=(1.0, 10.0), sizes=(16, 64)), confidence=0.95)
        told.append([each for each in health_sentences(found, nothing) if "depend on each other" in each])
    assert told[1] == []
    (said,) = told[0]
    assert said.startswith("alpha and training.batch_size depend on each other (100 % of the variance, p < 0.001)")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("neither", "the configurations can't be told apart (p = 0.300): choice and shares rest on little."),
        (
            "trials",
            "more trials would help the choice more: twice the seeds is expected to gain 0.21 points, "
            "twice the trials 0.13.",
        ),
    ],
)
def test_a_search_is_told_what_more_runs_would_gain(tried: Any, nothing: Any, more: str, said: str) -> None:
    found = look_at(tried(HILL, designed=False), confidence=0.95)
    found = replace(found, advice=advice(more, p=0.3))
    assert [*health_sentences(found, nothing)][-1] == said
