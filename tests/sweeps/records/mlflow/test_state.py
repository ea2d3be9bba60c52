"""The store is believed: what it has lost is written again, what it has is left alone, and two studies stay apart."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

Command = Callable[..., Any]


@pytest.fixture
def run(setsweep: Command, small: Path) -> Callable[..., Any]:
    """Calls run the small study in this process, or only record what it lacks."""

    def call(*options: object) -> Any:
        said = setsweep("run", small, "--in-process", *options)
        assert said.code == 0, said.err
        return said

    return call


def _count(database: str = "mlflow.db", name: str = "small") -> int:
    """The active rows of an experiment that is active."""
    with closing(sqlite3.connect(database)) as connection:
        query = """
            select count(*) from runs join experiments on runs.experiment_id = experiments.experiment_id
            where experiments.name = ? and experiments.lifecycle_stage = 'active' and runs.lifecycle_stage = 'active'
        """
        found: int = connection.execute(query, [name]).fetchone()[0]
    return found


ROWS = 1 + 5 + 7  # the study; 3 trials and 2 confirmed configurations; their runs


def test_an_experiment_that_was_deleted_comes_back(run: Command, folder: Path) -> None:
    run()
    client = MlflowClient()
    experiment = client.get_experiment_by_name("small")
    assert experiment is not None
    client.delete_experiment(experiment.experiment_id)
    assert _count() == 0
    run()
    assert _count() == ROWS


def test_a_store_that_was_reset_is_filled_again(run: Command, folder: Path, empty_database: Path) -> None:
    run()
    (folder / "mlflow.db").write_bytes(empty_database.read_bytes())
    run()
    assert _count() == ROWS


def test_a_study_that_is_recorded_is_left_alone(run: Command, folder: Path) -> None:
    run()
    before = (folder / "mlflow.db").read_bytes()
    run()
    assert (folder / "mlflow.db").read_bytes() == before


def test_two_storages_with_other_studies_of_one_name_do_not_overwrite_each_other(run: Command, folder: Path) -> None:
    run("--storage", "first")
    first = _descriptions()
    run("--storage", "second", "--set", "training.epochs=1")
    assert (_count(), _count(name="small (2)")) == (ROWS, ROWS)
    assert _descriptions() == first
    run("--storage", "second", "--set", "training.epochs=1")
    assert _count(name="small (3)") == 0


def test_the_same_study_in_two_storages_is_one_experiment(run: Command, folder: Path) -> None:
    run("--storage", "first")
    run("--storage", "second")
    assert (_count(), _count(name="small (2)")) == (ROWS, 0)


def test_an_unknown_kind_of_store_is_refused_at_once(setsweep: Command, small: Path) -> None:
    began = time.monotonic()
    said = setsweep("run", small, "--in-process", "--tracking-uri", "ftp://me:secret@host/mlflow")
    assert said.code == 2
    assert "--tracking-uri must begin with one of http, https, sqlite," in said.err
    assert "'ftp://me:***@host/mlflow'" in said.err
    assert not list(Path("setsweep-results/small").glob("journal.jsonl.*"))
    assert time.monotonic() - began < 30  # it took 46 s and then ended with 0


def _descriptions() -> dict[str, str]:
    """The description of the experiment "small" and its runs' tags that are results."""
    experiment = MlflowClient().get_experiment_by_name("small")
    assert experiment is not None
    runs = MlflowClient().search_runs([experiment.experiment_id])
    return {run.info.run_id: json.dumps(run.data.tags, sort_keys=True) for run in runs} | {
        "note": experiment.tags["mlflow.note.content"]
    }
