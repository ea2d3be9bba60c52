"""What a store writes of results into MLflow: everything once, whatever was there before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow.store import MlflowStore
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Groups = list[list[tuple[PlannedRun, RunResult]]]
Snapshot = dict[tuple[str, str], dict[str, Any]]

pytestmark = pytest.mark.usefixtures("quiet")


def _record(study: Study, groups: Groups) -> None:
    store = MlflowStore(study, None)
    for group in groups:
        for planned, result in group:
            store.write_run(planned, result)
        store.write_aggregate(group)
    store.write_study("| arm | top-2 |\n|---|---|\n| focal | 0.9 |\n", (), "FINISHED")


def test_a_study_has_its_aggregates_below_it_and_their_runs_below_them(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    _record(study, groups)

    found = snapshot(folder)

    levels = [level for level, _ in found]
    assert {level: levels.count(level) for level in levels} == {"study": 1, "aggregate": 4, "run": 12}
    assert {row["status"] for row in found.values()} == {"FINISHED"}
    for (level, _), row in found.items():
        above = {"study": None, "aggregate": "study", "run": "aggregate"}[level]
        assert row["parent"] == above or row["parent"][0] == above


def test_a_run_carries_its_curves_its_final_metrics_and_its_true_times(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    planned, result = groups[3][0]

    _record(study, groups)

    run = snapshot(folder)["run", planned.key]
    assert run["times"] == (round(result.started * 1000), round(result.finished * 1000))
    assert {"gamma": "2.0", "data.label_noise": "0.2", "seed": "10"}.items() <= run["params"].items()
    assert (run["tags"]["arm"], run["tags"]["stage"], run["tags"]["seed"]) == ("focal", "confirm", "10")
    losses = tuple(value for key, _, _, value, _ in run["rows"] if key == "train/loss")
    assert losses == result.curves["train/loss"]
    assert {name: run["latest"][name] for name in result.metrics} == result.metrics


def test_an_aggregate_carries_mean_and_interval_of_its_runs(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    _record(study, groups)

    found = snapshot(folder)

    _, key = found["run", groups[0][0][0].key]["parent"]
    latest = found["aggregate", key]["latest"]
    values = [result.metrics["test/top2_accuracy"] for _, result in groups[0]]
    assert latest["test/top2_accuracy/mean"] == float(f"{mean(values):.6g}")
    assert latest["test/top2_accuracy/ci_low"] < mean(values) < latest["test/top2_accuracy/ci_high"]
    assert latest["test/top2_accuracy/n"] == 3
    assert latest["test/top2_accuracy/std"] > 0


def test_a_metric_read_at_the_best_epoch_of_another_is_recorded_where_the_study_asks_for_it(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    asked = replace(study, compare=replace(study.compare, show=("test/top2_accuracy@avg2_accuracy",)))
    at_first = {"best_epoch": {"avg2_accuracy": 1}, "tested": {1: {"test/top2_accuracy": 0.5}}}
    _record(asked, [[(planned, replace(result, **at_first)) for planned, result in group] for group in groups])

    found = snapshot(folder)

    runs = [
        row["latest"].get("test/top2_accuracy at avg2_accuracy") for (level, _), row in found.items() if level == "run"
    ]
    assert runs == [0.5] * 12
    means = [row["latest"].get("test/top2_accuracy at avg2_accuracy/mean") for (level, _), row in found.items()]
    assert means.count(0.5) == 4


def test_the_study_run_carries_tables_study_file_and_figures(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    figure = folder / "curve.svg"
    figure.write_text("<svg/>")
    MlflowStore(study, None).write_study("tables\n" * 5000, [figure], "FINISHED")

    note = snapshot(folder)["study", "which-loss"]["tags"]["mlflow.note.content"]
    kept = {path.name: path.read_text() for path in (folder / "mlruns").rglob("*.*") if path.is_file()}
    assert note.startswith("tables\n")
    assert note.endswith("(Shortened to what MLflow takes here.)")
    assert kept == {"curve.svg": "<svg/>", "report.md": "tables\n" * 5000, "study.yaml": study.text}


def test_runs_without_a_number_are_failed_runs_with_their_reason(
    folder: Path, study: Study, make_pair: Callable[..., Any], snapshot: Callable[[Path], Snapshot]
) -> None:
    group = [make_pair("focal", 0.0, 10), make_pair("focal", 0.0, 11, status="diverged")]
    lost = [make_pair("focal", 0.2, seed, status="failed") for seed in (10, 11)]

    _record(study, [group, lost])

    found = snapshot(folder)
    bad = found["run", group[1][0].key]
    assert bad["status"] == "FAILED"
    assert bad["tags"]["result"] == "diverged"
    assert bad["tags"]["reason"] == bad["tags"]["mlflow.note.content"] == group[1][1].reason
    mixed, none = (found[found["run", pairs[0][0].key]["parent"]] for pairs in (group, lost))
    assert (mixed["status"], mixed["latest"]["test/top2_accuracy/n"]) == ("FINISHED", 1)
    assert (none["status"], none["latest"]["test/top2_accuracy/n"], none["tags"]["failed"]) == ("FAILED", 0, "2")


def test_recording_the_same_again_changes_nothing(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    _record(study, groups)
    before = snapshot(folder)
    _record(study, groups)
    assert snapshot(folder) == before


def test_more_seeds_update_the_aggregate_in_place(
    folder: Path, study: Study, make_pair: Callable[..., Any], snapshot: Callable[[Path], Snapshot]
) -> None:
    seeds = [make_pair("focal", 0.0, seed) for seed in range(5)]
    late = max(result.finished for _, result in seeds)
    seeds[0] = (seeds[0][0], replace(seeds[0][1], finished=late + 60))  # the first version ends later than the second
    _record(study, [seeds[:2]])
    _record(study, [seeds])
    _record(study, [seeds[1:]])

    found = snapshot(folder)

    assert [level for level, _ in found].count("aggregate") == 1
    latest = found[found["run", seeds[0][0].key]["parent"]]["latest"]
    values = [result.metrics["test/top2_accuracy"] for _, result in seeds[1:]]
    assert latest["test/top2_accuracy/n"] == 4
    assert latest["test/top2_accuracy/mean"] == float(f"{mean(values):.6g}")


def test_a_failed_run_that_succeeds_later_becomes_that_success(
    folder: Path, study: Study, make_pair: Callable[..., Any], snapshot: Callable[[Path], Snapshot]
) -> None:
    failed, done = make_pair("focal", 0.0, 10, status="failed"), make_pair("focal", 0.0, 10)
    done = (done[0], replace(done[1], finished=done[1].finished + 100))

    _record(study, [[failed]])
    _record(study, [[done]])

    run = snapshot(folder)["run", done[0].key]
    assert (run["status"], run["tags"]["result"], run["tags"]["reason"]) == ("FINISHED", "done", "")
    assert run["latest"]["test/top2_accuracy"] == done[1].metrics["test/top2_accuracy"]


def test_what_a_changed_study_no_longer_asks_for_is_kept_but_not_current(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    renamed = [
        [(replace(planned, candidate=replace(planned.candidate, arm="old")), result) for planned, result in group]
        for group in groups[:1]
    ]
    _record(study, renamed + groups[1:])
    _record(study, groups)

    found = snapshot(folder)

    current = {row["tags"]["arm"]: row["tags"]["current"] for (level, _), row in found.items() if level == "aggregate"}
    assert current == {"old": "false", "cross_entropy": "true", "focal": "true"}
    moved = found["run", groups[0][0][0].key]
    assert moved["name"] == "cross_entropy label_noise=0 seed 10"
    assert found[moved["parent"]]["tags"]["arm"] == moved["tags"]["arm"] == "cross_entropy"


def test_an_interrupted_sweep_leaves_nothing_running_and_goes_on_later(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    store = MlflowStore(study, None)
    store.write_run(*groups[0][0])
    store.write_study("", (), "KILLED")

    interrupted = snapshot(folder)
    _record(study, groups)

    assert sorted(row["status"] for row in interrupted.values()) == ["FINISHED", "KILLED", "KILLED"]
    assert {row["status"] for row in snapshot(folder).values()} == {"FINISHED"}
