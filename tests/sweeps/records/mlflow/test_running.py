"""Runs that are shown while they are trained: each value once, and nothing of a session that was stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from setsweep.sweeps.records.mlflow import database
from setsweep.sweeps.records.mlflow.store import MlflowStore
from setsweep.sweeps.records.running import Evaluation
from setsweep.sweeps.study.study import Study

pytestmark = pytest.mark.usefixtures("quiet", "folder")


@pytest.fixture(params=["in bulk", "by the client"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by the client":
        monkeypatch.setattr(database, "REVISIONS", set())


def evaluations(result: Any, *epochs: int) -> list[Evaluation]:
    """Those of a result, as a slot tells them while it trains."""
    return [
        Evaluation(
            epoch=epoch,
            metrics={name: curve[epoch - 1] for name, curve in result.curves.items()},
            time=result.started + epoch / 10,
        )
        for epoch in epochs
    ]


def runs(level: str) -> list[Run]:
    """What the UI lists of a level."""
    found: list[Run] = MlflowClient().search_runs(["1"], f"tags.level = '{level}'")
    return found


def curve(run: Run, metric: str) -> list[tuple[int, float]]:
    return sorted((each.step, each.value) for each in MlflowClient().get_metric_history(run.info.run_id, metric))


def test_a_run_that_is_trained_is_there_with_its_curve_so_far_below_an_aggregate_of_none(
    study: Study, make_pair: Callable[..., Any]
) -> None:
    planned, result = make_pair("focal", 0.0, 10)
    store = MlflowStore(study, None)
    store.write_running(planned, [], result.started, 5)
    store.write_running(planned, evaluations(result, 1, 2), result.started, 5)
    store.flush()

    ((run,), (aggregate,)) = runs("run"), runs("aggregate")
    assert (run.info.status, run.data.tags["result"], run.data.params["gamma"]) == ("RUNNING", "running", "2.0")
    assert curve(run, "train/loss") == [*enumerate(result.curves["train/loss"][:2], 1)]
    assert (aggregate.info.status, aggregate.data.tags["runs"]) == ("RUNNING", "0 of 5")
    assert run.data.tags["mlflow.parentRunId"] == aggregate.info.run_id
    store.close()
    assert {each.info.status for level in ("run", "aggregate", "study") for each in runs(level)} == {"KILLED"}


def test_its_result_completes_it_and_no_value_is_there_twice(study: Study, make_pair: Callable[..., Any]) -> None:
    planned, result = make_pair("focal", 0.0, 10)
    store = MlflowStore(study, None)
    store.write_running(planned, evaluations(result, 1, 3), result.started, 5)
    store.flush()
    store.write_run(planned, result)
    store.write_running(planned, evaluations(result, 2), result.started, 5)  # was told late
    store.write_study("", (), "FINISHED")

    (run,) = runs("run")
    assert (run.info.status, run.data.tags["result"]) == ("FINISHED", "done")
    assert curve(run, "train/loss") == [*enumerate(result.curves["train/loss"], 1)]
    assert {name: run.data.metrics[name] for name in result.metrics} == result.metrics


def test_what_a_session_that_was_stopped_has_shown_of_a_run_gives_way_to_the_next_one(
    study: Study, make_pair: Callable[..., Any]
) -> None:
    planned, result = make_pair("focal", 0.0, 10)
    first = MlflowStore(study, None)
    first.write_running(planned, evaluations(result, 1, 2), result.started, 5)
    first.flush()  # killed: nothing is ended

    second = MlflowStore(study, None)
    resumed = replace(result, started=result.started + 60, finished=result.finished + 60)
    second.write_running(planned, evaluations(resumed, 2), resumed.started, 5)
    second.write_run(planned, resumed)
    second.write_study("", (), "FINISHED")

    (run,) = runs("run")
    assert run.info.status == "FINISHED"
    assert curve(run, "train/loss") == [*enumerate(result.curves["train/loss"], 1)]


def test_a_run_that_is_trained_once_more_keeps_its_result_until_it_has_another(
    study: Study, make_pair: Callable[..., Any]
) -> None:
    planned, result = make_pair("focal", 0.0, 10, status="failed")
    first = MlflowStore(study, None)
    first.write_run(planned, result)
    first.write_study("", (), "FINISHED")
    second = MlflowStore(study, None)
    second.write_running(planned, evaluations(result, 1), result.started, 5)
    second.flush()
    (run,) = runs("run")
    assert (run.info.status, run.data.tags["result"]) == ("FAILED", "failed")
