"""The planner's last stage: the configurations of a sensitivity study, after the choice."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

PLAIN: dict[str, Any] = {
    "study": "s",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "training": {"epochs": 2},
    "k": [1, 2],
    "arms": {"cross_entropy": {}, "avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}},
    "search": {"trials": 5, "seeds": 1, "objective": "val/avg2_accuracy"},
    "confirm": {"seeds": 2},
    "sensitivity": {"training.batch_size": [32, 64], "seeds": 3},
}


def study(**sensitivity: Any) -> Study:
    return read_study(PLAIN | {"sensitivity": PLAIN["sensitivity"] | sensitivity})


def drive(planner: Planner) -> list[PlannedRun]:
    """Every run in the order in which it is given out; alpha is the better the nearer to 3."""
    given = []
    while isinstance(run := planner.next_run(), PlannedRun):
        given.append(run)
        value = 0.9 - abs(run.config.loss.get("alpha", 0.0) - 3) / 100
        metrics = {f"{split}/avg2_accuracy": value for split in ("val", "test")}
        planner.tell(RunResult(key=run.key, status="done", metrics=metrics))
    return given


def varied(planner: Planner) -> list[PlannedRun]:
    return [run for run, _ in planner.runs() if run.stage == "sensitivity" and run.arm == "avgk"]


def test_what_is_not_varied_stands_at_what_was_chosen() -> None:
    planner = Planner(study())
    drive(planner)
    (chosen,) = {run.params["alpha"] for run, _ in planner.runs() if run.stage == "confirm" and run.arm == "avgk"}
    assert chosen != 1.0
    assert {run.params["alpha"] for run in varied(planner)} == {chosen}


def test_or_at_its_default() -> None:
    planner = Planner(study(at="default"))
    drive(planner)
    assert {run.params["alpha"] for run in varied(planner)} == {1.0}


def test_what_is_varied_goes_before_what_was_chosen() -> None:
    planner = Planner(study(**{"loss.alpha": [0.5, 5.0]}))
    drive(planner)
    assert {run.params["alpha"] for run in varied(planner)} == {0.5, 5.0}
    assert len({run.candidate for run in varied(planner)}) == 4


def test_every_configuration_has_the_same_seeds_and_sees_validation_and_test() -> None:
    planner = Planner(study())
    drive(planner)
    seeds: dict[Any, list[int]] = {}
    for run in varied(planner):
        seeds.setdefault(run.params["training.batch_size"], []).append(run.seed)
        assert run.config.test
    assert seeds == {32: [0, 1, 2], 64: [0, 1, 2]}


def test_it_begins_after_the_choice_and_all_of_it_is_counted() -> None:
    planner = Planner(study())
    # cross_entropy: 2 seeds and 2 x 3; avgk: 5 trials, 2 x 2 (choice and default), and 2 x 3.
    assert planner.total == 2 + 6 + 5 + 4 + 6
    assert planner.counts("avgk").total == 15
    given = [run.stage for run in drive(planner) if run.arm == "avgk"]
    assert given[:5] == ["search"] * 5
    assert "search" not in given[5:]
    assert planner.done == planner.total


def test_a_configuration_that_is_confirmed_too_is_trained_once() -> None:
    # Batch size 64 is the default of no training given; the confirmation's seeds 0 and 1 have it.
    default = read_study(PLAIN).training["batch_size"]
    planner = Planner(study(**{"training.batch_size": [16, default]}))
    given = drive(planner)
    assert len({run.key for run in given}) == len(given) == planner.total - 4  # 2 seeds of either arm
    assert planner.done == planner.total


@pytest.mark.parametrize("at", ["chosen", "default"])
def test_what_is_done_is_not_given_out_again(at: str) -> None:
    first = Planner(study(at=at))
    drive(first)
    again = Planner(study(at=at), first.results)
    assert drive(again) == []
    assert [run.key for run, _ in again.runs()] == [run.key for run, _ in first.runs()]


def test_an_arm_that_a_point_does_not_concern_tries_the_same_and_is_trained_once() -> None:
    arms = {"focal": {"gamma": {"uniform": [0.5, 5]}}, "avgk": {"k": 2}}
    planner = Planner(read_study(PLAIN | {"arms": arms, "grid": {"avgk.alpha": [0.5, 5]}, "sensitivity": None}))
    given = [run for run in drive(planner) if run.arm == "focal"]
    # 5 trials, and choice and default with 2 seeds each; the best trial is the first of equals, which is the default.
    assert len(given) == 5 + 2
    assert planner.counts("focal").total == 2 * (5 + 4)
    assert planner.done == planner.total
