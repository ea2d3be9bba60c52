"""A sweep ends where its budget does, with what it has, and goes on from there with a larger one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.study.budget import Budget
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.allowance import Allowance, BudgetSpent
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

SECONDS = 360.0  # of a run: a tenth of an hour


@pytest.fixture
def run(study: Study, tmp_path: Path) -> Callable[..., Planner]:
    """Calls run the study, of 20 runs, on three slots into one folder, in virtual time."""

    def sweep(budget: Budget, *, gpus: float = 0.0, **changes: Any) -> Planner:
        own = replace(study, budget=budget, **changes)
        with Journal(tmp_path) as journal:
            planner = Planner(own, journal.results)
            executor = SimulatedExecutor(_outcome, slots=3, weather=Weather(seconds=SECONDS))
            allowance = Allowance(budget, gpus=gpus, now=lambda: executor.now)
            try:
                Sweep(own, planner, executor, journal, tmp_path, [], allowance).run()
            except BudgetSpent as spent:
                planner.spent = str(spent)  # type: ignore[attr-defined]
        return planner

    return sweep


def test_without_a_budget_all_is_trained(run: Callable[..., Any]) -> None:
    planner = run(Budget())
    assert planner.done == planner.total == 20
    assert not hasattr(planner, "spent")


def test_no_more_runs_are_trained_than_may_be_and_the_same_study_goes_on(run: Callable[..., Any]) -> None:
    planner = run(Budget(max_runs=7))
    assert planner.done == 7
    assert planner.spent == "budget.max_runs is 7"
    again = run(Budget(max_runs=7))
    assert (again.done, again.spent) == (7, "budget.max_runs is 7"), "what is done counts"
    assert run(Budget(max_runs=20)).done == 20
    assert not hasattr(run(Budget(max_runs=20)), "spent"), "a study that is whole has no end before its end"


def test_a_group_of_seeds_is_cut_where_the_runs_end(run: Callable[..., Any]) -> None:
    assert run(Budget(max_runs=7), resources=Resources(seeds_per_worker=5)).done == 7


def test_a_sweep_ends_when_its_time_is_up(run: Callable[..., Any]) -> None:
    planner = run(Budget(max_time=0.25))
    assert planner.spent == "budget.max_time is 0.25 h"
    assert 0 < planner.done < 20


def test_gpu_hours_count_shares_and_what_is_being_trained() -> None:
    clock = [0.0]
    allowance = Allowance(Budget(max_gpu_hours=1), gpus=0.5, now=lambda: clock[0])
    hour = _result(seconds=3600.0)
    allowance.check({"a": hour})  # half a GPU for an hour: 0.5
    allowance.started("b")
    clock[0] = 3599.0
    allowance.check({"a": hour})  # 0.5 + almost 0.5
    clock[0] = 3600.0
    with pytest.raises(BudgetSpent, match=r"budget\.max_gpu_hours is 1"):
        allowance.check({"a": hour})
    allowance.finished("b")
    allowance.check({"a": hour})


def test_gpu_hours_end_a_sweep(run: Callable[..., Any]) -> None:
    planner = run(Budget(max_gpu_hours=1), gpus=1.0, resources=Resources(gpus=1))
    assert planner.spent == "budget.max_gpu_hours is 1"
    # ten runs of a tenth of an hour each, less those that were under way: at most one on each of three slots
    assert 7 <= planner.done <= 10


def _outcome(config: RunConfig) -> RunResult:
    return replace(_result(seconds=SECONDS), key=config.key)


def _result(*, seconds: float) -> RunResult:
    values = {"val/avg2_accuracy": 0.5, "test/avg2_accuracy": 0.5}
    return RunResult(key="", status="done", metrics=values, seconds=seconds)
