"""Optuna asked trial by trial: a function of the trials and the seed alone, on the ranges as they are declared."""

from __future__ import annotations

from typing import Any

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from setsweep.sweeps.planning.samplers.search import OptunaSearch, distribution
from setsweep.sweeps.study.space import Space

SPACES = {
    "loss.alpha": Space(kind="log_uniform", low=0.1, high=10.0, default=1.0),
    "loss.num_samples": Space(kind="log_int", low=1, high=64, default=8),
}
TRIED = {number: {"loss.alpha": 0.2 * (number + 1), "loss.num_samples": 1 + 9 * number} for number in range(6)}
ONE = {number: (0.9 - 0.01 * number,) for number in TRIED}
TWO = {number: (0.9 - 0.01 * number, 5.0 - number) for number in TRIED}
SAMPLERS = [("gp", ONE), ("tpe", ONE), ("nsga2", TWO)]


def _search(sampler: str) -> OptunaSearch:
    return OptunaSearch(sampler, SPACES, ["maximize", "minimize"] if sampler == "nsga2" else ["maximize"], batch=3)


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (Space(kind="uniform", low=0.0, high=1.0), FloatDistribution(0.0, 1.0)),
        (Space(kind="log_uniform", low=0.1, high=10.0), FloatDistribution(0.1, 10.0, log=True)),
        (Space(kind="int", low=1, high=5), IntDistribution(1, 5)),
        (Space(kind="log_int", low=1, high=64), IntDistribution(1, 64, log=True)),
        (Space(kind="choice", choices=("sgd", "adam")), CategoricalDistribution(("sgd", "adam"))),
    ],
)
def test_each_kind_of_space_is_optunas_own(space: Space, expected: Any) -> None:
    assert distribution(space) == expected


@pytest.mark.parametrize(("sampler", "objectives"), SAMPLERS)
def test_what_was_asked_before_does_not_matter(sampler: str, objectives: dict[int, tuple[float, ...]]) -> None:
    """One object that was asked for every trial so far, and a new one that is told of them all, say the same."""
    used = _search(sampler)
    for number in (3, 4, 5):
        used.ask(
            number, {each: TRIED[each] for each in range(number)}, {each: objectives[each] for each in range(3)}, 7
        )
    assert used.ask(6, TRIED, objectives, seed=8) == _search(sampler).ask(6, TRIED, objectives, seed=8)


@pytest.mark.parametrize(("sampler", "objectives"), SAMPLERS)
def test_suggestions_lie_inside_of_the_ranges(sampler: str, objectives: dict[int, tuple[float, ...]]) -> None:
    for seed in range(3):
        found = _search(sampler).ask(6, TRIED, objectives, seed)
        assert list(found) == list(SPACES)
        assert all(SPACES[path].contains(value) for path, value in found.items())


def test_a_trial_that_is_still_training_is_known_to_be_tried() -> None:
    """Its value is missing, and yet the next suggestion differs from what it is without the trial."""
    finished = {number: ONE[number] for number in range(5)}
    without = _search("gp").ask(6, {number: TRIED[number] for number in range(5)}, finished, seed=3)
    assert _search("gp").ask(6, TRIED, finished, seed=3) != without


def test_results_decide_where_the_next_trial_lies() -> None:
    """Rising with alpha, or falling: the Gaussian process goes to the other side of the geometric middle, 1."""
    rising = {number: (0.1 * number,) for number in TRIED}
    falling = {number: (-0.1 * number,) for number in TRIED}
    up = _search("gp").ask(6, TRIED, rising, seed=0)["loss.alpha"]
    down = _search("gp").ask(6, TRIED, falling, seed=0)["loss.alpha"]
    assert up > 1 > down
