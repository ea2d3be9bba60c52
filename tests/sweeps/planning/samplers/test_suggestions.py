"""Suggestions: what every sampler must keep to, and what each has of its own."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.samplers.suggestions import START, Suggestions, sampler_of
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
MARGIN = Space(kind="uniform", low=0.0, high=1.0, default=0.5)
EPOCHS = Space(kind="int", low=1, high=3, default=2)
SAMPLES = Space(kind="log_int", low=1, high=64, default=8)
OPTIMIZER = Space(kind="choice", choices=("sgd", "adam"), default="sgd")
FINITE = {"training.epochs": EPOCHS, "training.optimizer.name": OPTIMIZER}
RANGES = {"loss.alpha": ALPHA, "loss.margin": MARGIN, "loss.num_samples": SAMPLES, "training.epochs": EPOCHS}
ALL = {**RANGES, "training.optimizer.name": OPTIMIZER}
SPACES = {"grid": FINITE, "gp": {"loss.alpha": ALPHA, "training.epochs": EPOCHS}, "cmaes": RANGES}
SAMPLERS = ("tpe", "random", "qmc", "grid", "gp", "cmaes")
ASKING = ("tpe", "gp", "cmaes")

Tried = list[dict[str, Any]]
Objective = Callable[[Mapping[str, Any]], float]


def _suggestions(
    sampler: str, *, spaces: Mapping[str, Space] | None = None, name: str = "study", further: tuple[str, ...] = ()
) -> Suggestions:
    search = Search(trials=20, sampler=sampler, objective="val/avg2_accuracy", further=further, seeds=(0,))  # type: ignore[arg-type]
    arm = Arm(name="arm", loss="avgk", searched=spaces or SPACES.get(sampler, ALL))
    settings: dict[str, Any] = {"data": {}, "model": {}, "training": {}, "k": (2,), "arms": {"arm": arm}}
    return Suggestions(Study(name=name, search=search, **settings), arm, {})


def _value(values: Mapping[str, Any]) -> float:
    """An objective with its best near alpha = 3."""
    return -abs(math.log(values.get("loss.alpha", 1.0) / 3)) - 0.1 * values.get("training.epochs", 0)


def _play(suggestions: Suggestions, objective: Objective = _value, *, trials: int = 12, batch: int = 4) -> Tried:
    """What is tried in batches."""
    tried: Tried = []
    for number in range(trials):
        known = {each: (objective(tried[each]),) for each in range(number // batch * batch)}
        tried.append(suggestions.ask(number, dict(enumerate(tried)), known))
    return tried


def _trials(sampler: str) -> int:
    return 6 if sampler == "grid" else 12


@pytest.mark.parametrize("sampler", [each for each in SAMPLERS if each != "grid"])
def test_trial_0_is_the_default_configuration(sampler: str) -> None:
    assert _play(_suggestions(sampler), trials=1) == [
        {path: space.default for path, space in SPACES.get(sampler, ALL).items()}
    ]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_all_values_lie_in_their_ranges_and_have_their_types(sampler: str) -> None:
    for values in _play(_suggestions(sampler), trials=_trials(sampler)):
        assert list(values) == list(SPACES.get(sampler, ALL))
        assert all(ALL[path].contains(value) for path, value in values.items()), values
        assert all(type(values[path]) is int for path in ("loss.num_samples", "training.epochs") if path in values)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_default_outside_the_ranges_is_not_tried(sampler: str) -> None:
    spaces = {path: replace(space, default=100) for path, space in SPACES.get(sampler, ALL).items()}
    for values in _play(_suggestions(sampler, spaces=spaces), trials=_trials(sampler)):
        assert all(space.contains(values[path]) for path, space in spaces.items()), values


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_results_give_the_same_suggestions(sampler: str) -> None:
    random.seed(1)
    first = _play(_suggestions(sampler), trials=_trials(sampler))
    random.seed(2)
    assert _play(_suggestions(sampler), trials=_trials(sampler)) == first


@pytest.mark.parametrize("sampler", ASKING)
def test_a_sampler_that_knows_the_trials_from_a_record_suggests_what_one_does_that_was_asked_for_them(
    sampler: str,
) -> None:
    tried = _play(_suggestions(sampler), trials=18)
    known = {number: (_value(tried[number]),) for number in range(16)}
    assert _suggestions(sampler).ask(17, dict(enumerate(tried[:17])), known) == tried[17]


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "gp", "cmaes"])
def test_another_study_gets_other_suggestions(sampler: str) -> None:
    assert _play(_suggestions(sampler), trials=4)[1:] != _play(_suggestions(sampler, name="other"), trials=4)[1:]


@pytest.mark.parametrize("sampler", ASKING)
def test_a_sampler_with_a_model_learns_from_finished_batches(sampler: str) -> None:
    first = _play(_suggestions(sampler), trials=12)
    second = _play(_suggestions(sampler), lambda values: -_value(values), trials=12)
    assert first[:4] == second[:4], "nothing is known in the first batch"
    assert first[-1] != second[-1]


@pytest.mark.parametrize("sampler", ["random", "qmc"])
def test_a_sampler_without_a_model_ignores_results(sampler: str) -> None:
    assert _play(_suggestions(sampler)) == _play(_suggestions(sampler), lambda values: 0.0)


@pytest.mark.parametrize("sampler", ["gp", "tpe", "qmc"])
def test_the_first_trials_are_quasi_random_whoever_is_asked_later(sampler: str) -> None:
    spaces = SPACES["gp"]
    own = _play(_suggestions(sampler, spaces=spaces), lambda values: 0.5, trials=START)
    assert own == _play(_suggestions("qmc", spaces=spaces), trials=START)


def test_a_larger_batch_than_the_start_is_quasi_random_as_nothing_is_known_yet() -> None:
    spaces = SPACES["gp"]
    own = _play(_suggestions("gp", spaces=spaces), trials=14, batch=14)
    assert own == _play(_suggestions("qmc", spaces=spaces), trials=14)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_no_configuration_is_tried_twice_while_there_are_others(sampler: str) -> None:
    spaces = {"training.epochs": EPOCHS, "loss.num_samples": replace(SAMPLES, high=2, default=1)}
    tried = _play(_suggestions(sampler, spaces=spaces), lambda values: 0.5, trials=6)
    assert len({tuple(values.values()) for values in tried}) == 6


def test_a_grid_tries_combinations_in_order() -> None:
    tried = [tuple(values.values()) for values in _play(_suggestions("grid"), trials=6)]
    assert tried == [(1, "sgd"), (1, "adam"), (2, "sgd"), (2, "adam"), (3, "sgd"), (3, "adam")]


def test_a_quasi_random_sequence_covers_the_range_more_evenly_than_chance() -> None:
    # 64 points of a scrambled Sobol sequence put two into each of 32 cells; random points leave a cell empty with
    # probability (31/32)**64 = 13 % each, so all 32 are hit in 1 % of cases.
    def cells(sampler: str) -> int:
        tried = _play(_suggestions(sampler, spaces={"loss.margin": MARGIN}), trials=65)
        return len({int(32 * values["loss.margin"]) for values in tried[1:]})

    assert cells("qmc") == 32
    assert cells("random") < 32


@pytest.mark.parametrize(("sampler", "least"), [("gp", 0.97), ("cmaes", 0.8), ("tpe", 0.8)])
def test_a_sampler_with_a_model_comes_near_the_best(sampler: str, least: float) -> None:
    """No noise, one range, 20 trials; seeded, so it gives the same each time."""
    tried = _play(
        _suggestions(sampler, spaces={"loss.alpha": ALPHA}), lambda v: -(math.log(v["loss.alpha"] / 5) ** 2), trials=20
    )
    assert max(math.exp(-abs(math.log(values["loss.alpha"] / 5))) for values in tried) > least


@pytest.mark.parametrize("sampler", ["gp", "tpe", "nsga2", "qmc", "random"])
def test_several_objectives_are_searched_together(sampler: str) -> None:
    spaces = {"loss.alpha": ALPHA, "loss.margin": MARGIN}
    suggestions = _suggestions(sampler, spaces=spaces, further=("val/avg2_set_size",))
    tried: Tried = []
    for number in range(13):
        known = {n: (tried[n]["loss.alpha"], tried[n]["loss.margin"]) for n in range(number // 4 * 4)}
        tried.append(suggestions.ask(number, dict(enumerate(tried)), known))
    assert all(spaces[path].contains(value) for values in tried for path, value in values.items())
    assert len({tuple(values.values()) for values in tried}) == 13


@pytest.mark.parametrize(
    ("spaces", "trials", "expected"),
    [(RANGES, 100, "gp"), (RANGES, 101, "tpe"), (ALL, 20, "tpe"), (FINITE, 20, "tpe")],
)
def test_auto_is_a_gaussian_process_for_ranges_and_few_trials(
    spaces: Mapping[str, Space], trials: int, expected: str
) -> None:
    search = Search(trials=trials, objective="val/avg2_accuracy", seeds=(0,))
    assert sampler_of(search, Arm(name="a", loss="avgk", searched=spaces)) == expected


def test_what_optuna_says_of_itself_reaches_nobody_and_without_need_it_is_not_imported() -> None:
    """In a process of its own, where warnings are shown as they are to users, and the first import is the search's."""
    code = """
import sys
from tests_of_suggestions import _play, _suggestions
_play(_suggestions("random"), trials=12)
_play(_suggestions("gp"), trials=8)
assert "optuna" not in sys.modules
_play(_suggestions("gp"), trials=12)
_play(_suggestions("cmaes"), trials=12)
"""
    loader = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("tests_of_suggestions", {__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules["tests_of_suggestions"] = module
spec.loader.exec_module(module)
"""
    said = subprocess.run(
        [sys.executable, "-W", "always", "-c", loader + code], check=False, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    assert not [line for line in said.stderr.splitlines() if "optuna" in line.lower() or "greenlet" in line.lower()]
