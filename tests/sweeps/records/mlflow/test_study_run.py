"""The run of a study itself: one, whatever happens, and open as long as the study runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow.state import RECORDED
from setsweep.sweeps.records.mlflow.study_run import StudyRun
from setsweep.sweeps.records.mlflow.table import Table
from setsweep.sweeps.study.study import Study

Snapshot = dict[tuple[str, str], dict[str, Any]]

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def experiment(folder: Path) -> str:
    return str(MlflowClient().create_experiment("which-loss"))


def opened(study: Study, experiment: str) -> tuple[StudyRun, Table]:
    table = Table(MlflowClient(), experiment)
    return StudyRun(study, table), table


def test_a_study_has_one_run_with_what_its_runs_have_in_common_which_is_opened_again(
    study: Study, experiment: str, folder: Path, snapshot: Callable[[Path], Snapshot]
) -> None:
    run, _ = opened(study, experiment)
    run.end("FINISHED", "")
    assert snapshot(folder)["study", "which-loss"]["status"] == "FINISHED"
    same, table = opened(study, experiment)
    table.flush()
    assert same.run_id == run.run_id
    (row,) = snapshot(folder).values()
    assert (row["status"], row["params"]["arms"]) == ("RUNNING", '["cross_entropy", "focal"]')
    assert row["tags"]["mlflow.note.content"] == "Which loss gives the best pairs?"


def test_at_the_end_what_is_still_open_is_killed_and_what_has_ended_is_left(
    study: Study, experiment: str, folder: Path, snapshot: Callable[[Path], Snapshot]
) -> None:
    run, table = opened(study, experiment)
    tags = [{"level": "run", "run_key": key} for key in "ab"]
    rows = [table.create(("run", each["run_key"]), "a run", each, 1.0, run.run_id) for each in tags]
    table.end(rows[0], "FAILED", 2000)
    run.end("FINISHED", "")
    found = snapshot(folder)
    assert [found["run", key]["status"] for key in "ab"] == ["FAILED", "KILLED"]
    assert found["study", "which-loss"]["status"] == "FINISHED"


@pytest.mark.parametrize("state", ["", "c0ffee"])
def test_an_experiment_says_that_it_has_all_where_it_has(study: Study, experiment: str, state: str) -> None:
    opened(study, experiment)[0].end("FINISHED", state)
    tags = MlflowClient().get_experiment(experiment).tags
    assert tags.get(RECORDED) == (state or None)


def test_without_a_page_the_tables_are_the_description_as_far_as_mlflow_takes_them(
    study: Study, experiment: str, folder: Path, snapshot: Callable[[Path], Snapshot]
) -> None:
    run, _ = opened(study, experiment)
    run.write_report("tables\n" * 2000, (), None)
    note = snapshot(folder)["study", "which-loss"]["tags"]["mlflow.note.content"]
    assert len(note) <= 8000
    assert note.endswith("(Shortened to what MLflow takes here.)")
    kept = {path.name: path.read_text() for path in (folder / "mlruns").rglob("*.*") if path.is_file()}
    assert kept == {"report.md": "tables\n" * 2000, "study.yaml": study.text}
