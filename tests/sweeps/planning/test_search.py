"""Suggestions: what every sampler must keep to, and what each has of its own."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.planning.search import ArmSearch
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Search

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
MARGIN = Space(kind="uniform", low=0.0, high=1.0, default=0.5)
EPOCHS = Space(kind="int", low=1, high=3, default=2)
SAMPLES = Space(kind="log_int", low=1, high=64, default=8)
OPTIMIZER = Space(kind="choice", choices=("sgd", "adam"), default="sgd")
FINITE = {"training.epochs": EPOCHS, "training.optimizer.name": OPTIMIZER}
ALL = {"loss.alpha": ALPHA, "loss.margin": MARGIN, "loss.num_samples": SAMPLES, **FINITE}
SPACES = {"grid": FINITE, "gp": {"loss.alpha": ALPHA, "training.epochs": EPOCHS}}  # Gaussian processes are slow
SAMPLERS = ("tpe", "random", "qmc", "grid", "gp")

Batches = list[list[dict[str, Any]]]


def _search(
    sampler: str, *, trials: int = 12, batch: int = 4, identity: tuple[str, ...] = ("study", "arm")
) -> ArmSearch:
    settings = Search(trials=trials, sampler=sampler, objective="val/avg2_accuracy", seeds=(0,), batch=batch)  # type: ignore[arg-type]
    return ArmSearch(settings, SPACES.get(sampler, ALL), identity=identity)


def _value(values: dict[str, Any]) -> float:
    """An objective with its best near alpha = 3."""
    return -abs(math.log(values.get("loss.alpha", 1.0) / 3)) - 0.1 * values["training.epochs"]


def _play(search: ArmSearch, objective: Callable[[dict[str, Any]], float] = _value) -> Batches:
    batches = []
    while batch := search.ask_batch():
        search.tell_batch([objective(values) for values in batch])
        batches.append(batch)
    return batches


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_trial_0_is_the_default_configuration(sampler: str) -> None:
    search = _search(sampler)
    assert search.ask_batch()[0] == {path: space.default for path, space in SPACES.get(sampler, ALL).items()}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_all_values_lie_in_their_ranges(sampler: str) -> None:
    for values in itertools.chain(*_play(_search(sampler))):
        assert all(ALL[path].contains(value) for path, value in values.items()), values


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_results_give_the_same_suggestions(sampler: str) -> None:
    random.seed(1)
    first = _play(_search(sampler))
    random.seed(2)
    assert _play(_search(sampler)) == first


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "gp"])
def test_another_arm_gets_other_suggestions(sampler: str) -> None:
    assert _search(sampler).ask_batch()[1:] != _search(sampler, identity=("study", "other")).ask_batch()[1:]


@pytest.mark.parametrize("sampler", ["tpe", "gp"])
def test_a_model_based_sampler_learns_from_finished_batches(sampler: str) -> None:
    first = _play(_search(sampler, trials=12))
    second = _play(_search(sampler, trials=12), lambda values: -_value(values))
    assert first[0] == second[0], "nothing is known in the first batch"
    assert first[-1] != second[-1]


@pytest.mark.parametrize("sampler", ["random", "qmc"])
def test_a_sampler_without_a_model_ignores_results(sampler: str) -> None:
    assert _play(_search(sampler)) == _play(_search(sampler), lambda values: 0.0)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("trials", [1, 4, 6])
def test_there_are_as_many_trials_as_asked_for(sampler: str, trials: int) -> None:
    search = _search(sampler, trials=trials)
    batches = _play(search)
    assert sum(map(len, batches)) == search.trials == trials
    assert all(len(batch) <= 4 for batch in batches)
    assert search.ask_batch() == []


def test_a_grid_tries_every_combination_once_and_ends() -> None:
    search = _search("grid", trials=100)
    tried = [tuple(values.values()) for values in itertools.chain(*_play(search))]
    assert len(tried) == search.trials == 6
    assert set(tried) == set(itertools.product((1, 2, 3), ("sgd", "adam")))


def test_a_grid_whose_default_lies_outside_tries_it_and_every_combination() -> None:
    outside = {"training.epochs": Space(kind="int", low=1, high=3, default=10)}
    search = ArmSearch(
        Search(trials=100, sampler="grid", objective="val/avg2_accuracy", seeds=(0,)), outside, identity=("s",)
    )
    assert [values["training.epochs"] for values in itertools.chain(*_play(search, lambda _: 0.0))] == [10, 1, 2, 3]


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "gp"])
def test_a_default_outside_the_range_is_tried_all_the_same(sampler: str) -> None:
    spaces = {"loss.alpha": Space(kind="log_uniform", low=0.1, high=0.5, default=1.0)}
    settings = Search(trials=9, sampler=sampler, objective="val/avg2_accuracy", seeds=(0,))  # type: ignore[arg-type]
    tried = [
        v["loss.alpha"] for batch in _play(ArmSearch(settings, spaces, identity=("s",)), lambda _: 0.1) for v in batch
    ]
    assert tried[0] == 1.0
    assert all(0.1 <= value <= 0.5 for value in tried[1:])


def test_a_quasi_random_sequence_covers_the_range_more_evenly_than_chance() -> None:
    # 64 points of a scrambled Sobol sequence put one into each of 32 cells but for the default's shift by one; random
    # points leave a cell empty with probability 1 - (31/32)**64 = 87 % each.
    def cells(sampler: str) -> int:
        settings = Search(trials=65, sampler=sampler, objective="val/avg2_accuracy", seeds=(0,), batch=65)  # type: ignore[arg-type]
        search = ArmSearch(settings, {"loss.margin": MARGIN}, identity=("s",))
        return len({int(32 * values["loss.margin"]) for values in search.ask_batch()[1:]})

    assert cells("qmc") >= 31
    assert cells("random") < 31
