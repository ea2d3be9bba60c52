"""The course of one arm at one point, step by step: search, choice, confirmation; its counts before and on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.planning.cell import Cell
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.precision import Pilots
from setsweep.sweeps.study.parts import Confirm
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.trainables.config.run_result import RunResult

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
SEARCH = Search(trials=6, sampler="qmc", objective="val/avg2_accuracy", seeds=(1000, 1001))
Value = Callable[[PlannedRun], float]


def _cell(search: Search | None = SEARCH, *, default: bool = False) -> Cell:
    arm = Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA} if search else {})
    settings: dict[str, Any] = {"data": {"name": "digits"}, "model": {"name": "linear"}, "training": {"epochs": 3}}
    study = Study(
        name="one-cell",
        k=(2,),
        arms={"avgk": arm},
        search=search,
        confirm_seeds=(0, 1, 2),
        confirm=Confirm(default=default),
        **settings,
    )
    return Cell(study, arm, {}, {}, Pilots(study))


def _results(cell: Cell, value: Value, among: dict[str, RunResult]) -> dict[str, RunResult]:
    return among | {
        run.key: RunResult(key=run.key, status="done", metrics={"val/avg2_accuracy": value(run)})
        for run in cell.runs
        if run.key in cell.missing
    }


def _play(cell: Cell, value: Value) -> list[list[PlannedRun]]:
    """The runs decided at each step; all of a step have ended before the next."""
    steps, results = [cell.advance({})], dict[str, RunResult]()
    while not cell.finished:
        results = _results(cell, value, results)
        cell.missing.clear()
        steps.append(cell.advance(results))
    return [step for step in steps if step]


def test_without_a_search_the_confirmation_is_all() -> None:
    cell = _cell(None)
    [confirmation] = _play(cell, lambda run: 0.5)
    assert [(run.stage, run.seed) for run in confirmation] == [("confirm", seed) for seed in (0, 1, 2)]
    assert cell.total == cell.most == 3


def test_a_search_goes_batch_by_batch_and_then_confirms_the_best_with_fresh_seeds() -> None:
    """Six trials in batches of four with two seeds each; the best is the one with the largest alpha."""
    cell = _cell()
    assert cell.total == 6 * 2 + 3
    first, second, confirmation = _play(cell, lambda run: run.config.loss["alpha"] / 10)
    assert [run.trial for run in first] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [run.trial for run in second] == [4, 4, 5, 5]
    largest = max(run.config.loss["alpha"] for run in first + second)
    assert {run.config.loss["alpha"] for run in confirmation} == {largest}
    assert [run.seed for run in confirmation] == [0, 1, 2]
    assert len(cell.runs) == cell.total


def test_search_runs_do_not_see_the_test_split_and_confirmation_runs_do() -> None:
    steps = _play(_cell(), lambda run: 0.5)
    assert [{run.config.test for run in step} for step in steps] == [{False}, {False}, {True}]


def test_the_default_is_confirmed_beside_the_choice_where_that_is_asked_for() -> None:
    *_, confirmation = _play(_cell(default=True), lambda run: run.config.loss["alpha"] / 10)
    assert [run.stage for run in confirmation] == ["confirm"] * 3 + ["default"] * 3
    assert {run.config.loss["alpha"] for run in confirmation if run.stage == "default"} == {1.0}


def test_nothing_is_decided_while_a_result_of_the_step_is_missing() -> None:
    cell = _cell()
    cell.advance({})
    results = _results(cell, lambda run: 0.5, {})
    cell.missing = {cell.runs[0].key}
    assert cell.advance(results) == []


def test_what_has_a_result_already_is_not_given_out_again() -> None:
    """Another cell of the same study, with the results of the first batch at hand, goes on to the second at once."""
    before = _cell()
    before.advance({})
    results = _results(before, lambda run: 0.5, {})
    cell = _cell()
    cell.advance(results)
    assert len(cell.runs) == 12
    assert [run.trial for run in cell.waiting] == [4, 4, 5, 5]
    assert cell.left == 12 + 3 - 12 + 4


@pytest.mark.parametrize(("advances", "said"), [(0, "0 of 6 trials"), (1, "4 of 6 trials"), (2, "6 of 6 trials")])
def test_what_it_is_at_is_said_in_a_few_words(advances: int, said: str) -> None:
    cell, results = _cell(), dict[str, RunResult]()
    for _ in range(advances):
        cell.advance(results)
        results = _results(cell, lambda run: 0.5, results)
        cell.missing.clear()
    assert cell.doing == said


def test_a_race_is_counted_before_it_is_run() -> None:
    """12 trials, rungs of 1, 3 and 9 seeds, of which 4 and 3 trials have the further ones: 12 + 4 x 2 + 3 x 6 = 38."""
    cell = _cell(Search(trials=12, sampler="qmc", objective="val/avg2_accuracy", seeds=(1000,), race=9))
    assert cell.total == 38 + 3
    steps = _play(cell, lambda run: run.config.loss["alpha"] / 10)
    assert [len(step) for step in steps] == [4, 4, 4, 8, 18, 3]
