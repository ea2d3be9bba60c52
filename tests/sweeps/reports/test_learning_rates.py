"""Learning rates as given and as used, in reports."""

from __future__ import annotations

import json
from typing import Any

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.run_result import RunResult

STUDY = {
    "study": "rates",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "training": {"batch_size": 128, "keep_lr_per_example": True, "optimizer": {"lr": 0.1}},
    "k": [2],
    "arms": {"cross_entropy": {}, "avgk": {}},
    "grid": {"training.batch_size": [128, 256, "full"]},
    "confirm": {"seeds": 2},
}


def _report(**changes: Any) -> Report:
    planner = Planner(read_study({**STUDY, **changes}))
    while isinstance(run := planner.next_run(), PlannedRun):
        planner.tell(RunResult(key=run.key, status="done", metrics={"test/avg2_accuracy": 0.5}))
    return build_report(planner.study, planner.runs())


def test_a_report_says_which_learning_rate_was_used_with_which_batch() -> None:
    """0.1 at 128 examples is 0.2 at 256."""
    report = _report()
    shown = render(report, "markdown")
    assert (
        "Learning rates grow with the batch (training.reference_batch_size): 0.1, meant for batches of 128, is 0.1 at "
        "128; 0.1, meant for batches of 128, is 0.2 at 256; 0.1, meant for batches of 128, is that of a full batch in "
        "proportion." in shown
    )
    assert json.loads(render(report, "json"))["learning_rates"] == [
        {"given": 0.1, "reference": 128, "batch_size": 128, "used": 0.1},
        {"given": 0.1, "reference": 128, "batch_size": 256, "used": 0.2},
        {"given": 0.1, "reference": 128, "batch_size": "full", "used": None},
    ]


def test_a_learning_rate_that_was_chosen_is_told_as_it_was_used() -> None:
    training = {"batch_size": 64, "reference_batch_size": 32, "optimizer": {"lr": {"log_uniform": [0.05, 5]}}}
    report = _report(training=training, grid={}, search={"trials": 2, "seeds": 1})
    rates = json.loads(render(report, "json"))["learning_rates"]
    assert rates
    assert all(each["used"] == 2 * each["given"] for each in rates)


def test_without_a_reference_nothing_is_said() -> None:
    report = _report(training={"optimizer": {"lr": 0.1}})
    assert "Learning rates" not in render(report, "markdown")
    assert json.loads(render(report, "json"))["learning_rates"] == []
