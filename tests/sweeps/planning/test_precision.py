"""Confirmation to a precision: Stein's number of seeds, and that the interval then covers as it says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from setsweep.sweeps.execution.answers import Done
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.precision import seeds_for
from setsweep.sweeps.study.parts import Confirm
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult


def test_the_number_is_steins() -> None:
    """s = 1, h = 1, n = 5: t(0.975, 4) = 2.7764, squared 7.708."""
    sample = [0.0, math.sqrt(2.0), -math.sqrt(2.0), 0.0, 0.0]
    assert seeds_for(sample, 1.0, 0.95) == 8
    assert seeds_for(sample, 100.0, 0.95) == 5, "never fewer than the pilot has"


def test_the_interval_covers_and_is_as_narrow_as_asked_for() -> None:
    """2,000 simulated studies: 95 % have a standard error of 0.5 points; below 93 % comes once in 30,000 times."""
    draw = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        pilot = draw.normal(size=5)
        more = draw.normal(size=seeds_for([*pilot], 0.8, 0.95) - 5)
        covered += abs(np.concatenate([pilot, more]).mean()) <= 0.8
    assert covered / 2000 > 0.93
    assert t.ppf(0.975, 4) == pytest.approx(2.7764, abs=1e-4)


def _play(study: Study, spread: dict[str, float]) -> Planner:
    """Results whose seeds lie `spread` above and below 0.5, by loss."""
    planner = Planner(study)
    while isinstance(run := planner.next_run(), PlannedRun):
        value = 0.5 + spread[run.arm] * (-1) ** run.seed
        planner.tell(RunResult(key=run.key, status="done", metrics={study.primary: value}))
    return planner


@pytest.fixture
def precise(study: Study) -> Study:
    """Two arms at two points, to 1 point with at most 12 seeds."""
    return replace(study, confirm_seeds=tuple(range(4)), confirm=Confirm(half_width=0.01, most=12))


def test_every_arm_at_a_point_gets_as_many_seeds_as_the_one_that_needs_most(precise: Study) -> None:
    """focal: s = 0.005 sqrt(4/3), t(0.975, 3) = 3.1824, so (t s / h)^2 = 3.38: the pilot does; at twice that 13.5."""
    assert {len(_seeds(_play(precise, {"cross_entropy": 0.0, "focal": 0.005}), arm)) for arm in precise.arms} == {4}
    wide = _play(precise, {"cross_entropy": 0.0, "focal": 0.01})
    assert {len(_seeds(wide, arm)) for arm in precise.arms} == {12}, "no more than asked for"
    assert (wide.total, wide.done) == (2 * 2 * 12, 2 * 2 * 12)
    middle = _play(replace(precise, confirm=Confirm(half_width=0.012, most=30)), {"cross_entropy": 0.0, "focal": 0.01})
    assert {len(_seeds(middle, arm)) for arm in precise.arms} == {10}, "(3.1824 x 0.011547 / 0.012)^2 = 9.38"


def test_the_difference_to_the_baseline_is_to_be_as_precise(precise: Study) -> None:
    """Each mean is precise enough at 4 seeds, but the arms scatter against each other: s of the difference doubles."""
    study = replace(precise, confirm=Confirm(half_width=0.01, most=30))
    planner = _play(study, {"cross_entropy": -0.005, "focal": 0.005})
    assert {len(_seeds(planner, arm)) for arm in study.arms} == {14}, "(3.1824 x 0.011547 / 0.01)^2 = 13.5"


def test_a_plan_says_what_it_may_cost_and_nobody_goes_on_before_the_last_pilot(precise: Study) -> None:
    planner = Planner(precise)
    assert (planner.total, planner.most) == (16, 48)
    given: list[Any] = []
    while isinstance(run := planner.next_run(), PlannedRun):
        given.append(run)
    assert {run.seed for run in given} == set(range(4))
    for run in given[:-1]:
        planner.tell(RunResult(key=run.key, status="diverged", reason="nan"))
    assert planner.done == 15
    planner.tell(RunResult(key=given[-1].key, status="diverged", reason="nan"))
    assert planner.done == planner.total == 16, "runs that all fail ask for no more of them"


def test_a_planner_from_what_is_known_is_where_the_other_was(precise: Study) -> None:
    """Its first arm must go on, too, when the pilot of the last is there: however many results are known."""
    spread = {"cross_entropy": 0.0, "focal": 0.01}
    whole = _play(precise, spread)
    for known in (whole.done, 17, 16, 15):
        again = Planner(precise, dict(list(whole.results.items())[:known]))
        while isinstance(run := again.next_run(), PlannedRun):
            again.tell(whole.results[run.key])
        assert (again.total, again.done, again.next_run()) == (whole.total, whole.done, Done())


def _seeds(planner: Planner, arm: str) -> set[int]:
    return {run.seed for run, _ in planner.runs() if run.arm == arm}
