"""How often an arm's runs diverge; what a machine has failed says nothing of the arm."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.failures import divergences
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult

CONFIG = complete_config(
    {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "cross_entropy"}, "k": [2], "seed": 0}
)


def _runs(arm: str, stage: Any, *statuses: Any) -> list[tuple[PlannedRun, RunResult | None]]:
    candidate = Candidate(arm=arm, point={}, stage=stage, trial=None, params={})
    return [
        (
            PlannedRun(candidate=candidate, config=CONFIG.with_seed(seed)),
            None if status is None else RunResult(key=str(seed), status=status),
        )
        for seed, status in enumerate(statuses)
    ]


def test_an_arm_without_a_failure_has_no_row() -> None:
    assert divergences(_runs("avgk", "confirm", "done", "done", None), confidence=0.95) == []


def test_the_share_is_of_the_runs_that_were_trained_to_an_end() -> None:
    """Two of four; Clopper and Pearson's interval of 2 of 4 at 95 % is 0.0676 to 0.9324 (Beta(2, 3) at 2.5 %)."""
    runs = _runs("avgk", "confirm", "done", "diverged", "diverged", "done", "failed", None)
    [row] = divergences(runs, confidence=0.95)
    assert (row.runs, row.diverged, row.failed) == (4, 2, 1)
    assert row.rate == 0.5
    assert row.ci_low == pytest.approx(0.0676, abs=5e-5)
    assert row.ci_high == pytest.approx(0.9324, abs=5e-5)


def test_an_arm_whose_runs_were_all_failed_by_machines_has_no_share() -> None:
    [row] = divergences(_runs("avgk", "confirm", "failed", "failed"), confidence=0.95)
    assert (row.runs, row.failed) == (0, 2)
    assert row.rate is row.ci_low is row.ci_high is None


def test_arms_and_stages_have_rows_of_their_own_in_the_order_of_the_runs() -> None:
    runs = [
        *_runs("b", "search", "diverged"),
        *_runs("a", "search", "done"),
        *_runs("a", "confirm", "diverged", "done"),
        *_runs("b", "confirm", "done"),
    ]
    assert [(row.arm, row.stage) for row in divergences(runs, confidence=0.95)] == [("b", "search"), ("a", "confirm")]
