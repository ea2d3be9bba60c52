"""MLflow while a sweep runs: what is done so far is seen, and what it costs stays small."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records import mlflow_projection
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Snapshot = dict[tuple[str, str], dict[str, Any]]


def _result(run: PlannedRun) -> RunResult:
    metrics = {"test/top2_accuracy": 0.9 + run.seed / 100}
    return RunResult(key=run.key, status="done", metrics=metrics, started=1e9, finished=1e9 + 1)


def _finish(planner: Planner, projection: Projection, count: int) -> None:
    """The next results come in."""
    for run, _ in [pair for pair in planner.runs() if pair[1] is None][:count]:
        projection.started(run)
        result = _result(run)
        planner.tell(result)
        projection.finished(run, result)


def _note() -> str:
    experiment = MlflowClient().get_experiment_by_name("which-loss")
    assert experiment is not None
    note: str = experiment.tags["mlflow.note.content"]
    return note


def test_a_study_that_runs_shows_its_aggregates_so_far_and_what_runs(
    folder: Path, study: Study, snapshot: Callable[[Path], Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow_projection, "FIRST_SHOWN", 0.0)
    planner = Planner(study)
    with Projection(study, planner, folder / "study", tracking_uri=None) as projection:
        _finish(planner, projection, 3)  # of the five seeds of the first of four configurations
        waiting = next(run for run, result in planner.runs() if result is None)
        projection.started(waiting)
        moments = [
            Moment(key=waiting.key, epoch=epoch, epochs=3, metrics={"train/loss": 1 / epoch}) for epoch in (1, 2)
        ]
        projection.news(moments)
        assert projection.flush()
        projection.tick()
        assert projection.flush()

        shown = snapshot(folder)["run", waiting.key]
        assert (shown["status"], shown["parent"][0]) == ("RUNNING", "aggregate")
        assert [(name, step, value) for name, step, _, value, _ in shown["rows"]] == [
            ("train/loss", 1, 1.0),
            ("train/loss", 2, 0.5),
        ]
        (so_far,) = [row for (level, _), row in snapshot(folder).items() if level == "aggregate"]
        assert (so_far["tags"]["runs"], so_far["status"]) == ("3 of 5", "RUNNING")
        assert so_far["tags"]["top-2"] == "91.00 ± 2.48"  # of 90, 91 and 92: t(0.975, 2) / sqrt(3) = 2.484
        assert _note().startswith("So far: **cross_entropy** is best in top-2: 91.00 ± 2.48 % (n = 3).")
        assert "Incomplete. 20 runs: 3 done, 17 waiting." in _note()
        assert "Running now: cross_entropy label_noise=0 seed 3." in _note()

        _finish(planner, projection, 17)
        projection.finish(build_report(study, planner.runs()), [], stopped=False)

    whole = snapshot(folder)
    aggregates = [row for (level, _), row in whole.items() if level == "aggregate"]
    assert {(row["tags"]["runs"], row["status"]) for row in aggregates} == {("5 of 5", "FINISHED")}
    study_row = whole["study", "which-loss"]
    assert (study_row["latest"]["runs/done"], study_row["latest"]["runs/waiting"]) == (20, 0)
    assert study_row["latest"]["best/test/top2_accuracy"] == 0.92
    assert study_row["params"]["baseline"] == "cross_entropy"
    assert "Running now" not in _note()


def test_long_runs_are_seen_before_the_first_of_them_has_a_result(
    folder: Path, study: Study, snapshot: Callable[[Path], Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow_projection, "FIRST_SHOWN", 0.0)
    planner = Planner(study)
    run = planner.runs()[0][0]
    with Projection(study, planner, folder / "study", tracking_uri=None) as projection:
        projection.started(run)
        projection.tick()
        assert not projection.begun  # the cores belong to the workers that start
        projection.news([Moment(key=run.key, epoch=1, epochs=3, metrics={"train/loss": 1.0})])
        projection.tick()
        assert projection.flush()
        assert snapshot(folder)["run", run.key]["latest"] == {"train/loss": 1.0}
        assert "Running now: cross_entropy label_noise=0 seed 0." in _note()
        projection.finish(build_report(study, planner.runs()), [], stopped=True)
    assert {row["status"] for row in snapshot(folder).values()} == {"KILLED"}


def test_showing_how_far_a_study_is_waits_thirty_seconds_and_a_hundred_times_what_it_cost(
    folder: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow_projection, "FIRST_SHOWN", 0.0)
    shown: list[float] = []

    def show(projection: Projection, recorder: object) -> None:
        shown.append(time.monotonic())
        time.sleep(0.5)

    monkeypatch.setattr(Projection, "_show_so_far", show)
    planner = Planner(study)
    with Projection(study, planner, folder / "study", tracking_uri=None) as projection:
        _finish(planner, projection, 1)
        assert projection.flush()
        for _ in range(20):
            projection.tick()
        assert len(shown) == 1
        assert projection._next >= shown[0] + 50  # 100 times half a second
        projection.finish(build_report(study, planner.runs()), [], stopped=True)
