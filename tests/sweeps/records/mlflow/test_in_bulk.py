"""Writing in bulk: the same rows as the client's calls, whatever is written when; what the database refuses or keeps
waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import OperationalError

from setsweep.sweeps.records.mlflow import database
from setsweep.sweeps.records.mlflow.by_client import ByClient
from setsweep.sweeps.records.mlflow.database import open_engine
from setsweep.sweeps.records.mlflow.in_bulk import InBulk
from setsweep.sweeps.records.mlflow_pages.rows import MetricRow
from setsweep.sweeps.study.study import Study

pytestmark = pytest.mark.usefixtures("quiet")

Dump = Callable[[str], dict[str, list[tuple[Any, ...]]]]


@pytest.fixture
def bulk(folder: Path) -> Iterator[InBulk]:
    """Of an experiment without a run."""
    client = MlflowClient()
    engine = open_engine(client.tracking_uri)
    assert engine is not None
    writer = InBulk(engine, client, client.create_experiment("rows"))
    yield writer
    writer.close()


def test_a_study_written_in_bulk_is_row_for_row_what_the_client_writes(
    folder: Path,
    write_histories: Callable[[str], None],
    dump: Dump,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (folder / "client.db").write_bytes((folder / "mlflow.db").read_bytes())
    uris = [f"sqlite:///{folder}/{name}.db" for name in ("mlflow", "client")]
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    for uri in uris:
        write_histories(uri)
        monkeypatch.setattr(database, "REVISIONS", set())  # from here on through the client

    in_bulk, by_client = map(dump, uris)

    assert {name: len(rows) for name, rows in in_bulk.items() if rows}.keys() >= {"runs", "metrics", "inputs", "tags"}
    for table, rows in by_client.items():
        assert in_bulk[table] == rows, table


def test_nothing_is_in_the_database_before_flush_and_all_of_it_after(bulk: InBulk, folder: Path) -> None:
    run_id = bulk.create("a", {}, 1)
    bulk.log(run_id, [MetricRow("loss", 0.5, 1, 1)], {"p": "1"}, {"t": "2"})
    assert not [*bulk.stored(["t"])]
    bulk.flush()
    assert [*bulk.stored(["t"])] == [(run_id, "RUNNING", None, {"t": "2"})]
    run = MlflowClient().get_run(run_id)
    assert (run.data.metrics, run.data.params) == ({"loss": 0.5}, {"p": "1"})


def test_what_was_written_already_may_be_written_again(bulk: InBulk, dump: Dump, folder: Path) -> None:
    run_id = bulk.create("a", {}, 1)
    bulk.log(run_id, [MetricRow("loss", 0.5, 1, 1)], {"p": "1"}, {"t": "2"})
    bulk.log_dataset(run_id, "digits", "c0ffee", "{}")
    waiting = dict(bulk._waiting)
    bulk.flush()
    before = dump(f"sqlite:///{folder}/mlflow.db")
    bulk._waiting = waiting  # as after a connection that was lost while it was committed
    bulk.flush()
    assert dump(f"sqlite:///{folder}/mlflow.db") == before


def test_what_mlflow_refuses_is_refused_when_it_is_given_and_nothing_of_it_is_kept(bulk: InBulk) -> None:
    run_id = bulk.create("a", {}, 1)
    with pytest.raises(MlflowException, match="Invalid"):
        bulk.log(run_id, [MetricRow("fine", 1.0, 1, 1), MetricRow("no star: *", 1.0, 1, 1)], {"p": "1"}, {})
    with pytest.raises(MlflowException, match="Invalid"):
        bulk.log(run_id, [], {"no star: *": "1"}, {})
    bulk.flush()
    run = MlflowClient().get_run(run_id)
    assert (run.data.metrics, run.data.params) == ({}, {})


def test_a_run_that_the_database_refuses_is_told_and_does_not_hold_up_the_others(bulk: InBulk, folder: Path) -> None:
    connection = sqlite3.connect(folder / "mlflow.db")
    connection.execute("create unique index one_of_a_name on runs (name)")
    connection.close()
    ids = [bulk.create(name, {"t": name}, 1) for name in ("a", "b", "c")]
    bulk.set_status(ids[1], "NO SUCH STATUS")
    with pytest.raises(ValueError, match="must take every run, got 1 refusals: CHECK constraint failed"):
        bulk.flush()
    assert {run_id for run_id, *_ in bulk.stored(["t"])} == {ids[0], ids[2]}
    bulk.flush()  # nothing waits


def test_a_database_that_is_away_is_an_error_each_time_and_what_waits_follows(bulk: InBulk, folder: Path) -> None:
    run_id = bulk.create("a", {"t": "1"}, 1)
    (folder / "mlflow.db").rename(folder / "away.db")
    for _ in range(2):
        with pytest.raises(OperationalError):
            bulk.flush()
    (folder / "mlflow.db").unlink()  # SQLite has made an empty one
    (folder / "away.db").rename(folder / "mlflow.db")
    bulk.flush()
    assert [found for found, *_ in bulk.stored(["t"])] == [run_id]


@pytest.mark.parametrize("uri", ["http://127.0.0.1:5000", "sqlite://", "sqlite:///:memory:", "file:///tmp/mlruns"])
def test_only_a_database_in_a_file_or_a_server_of_postgresql_is_written_in_bulk(uri: str) -> None:
    assert open_engine(uri) is None


def test_a_schema_that_is_not_known_is_left_to_the_client(folder: Path, study: Study) -> None:
    connection = sqlite3.connect(folder / "mlflow.db")
    ((revision,),) = connection.execute("select version_num from alembic_version")
    assert {revision} == database.REVISIONS, "the installed MLflow's schema is not the one that is tested"
    assert open_engine(f"sqlite:///{folder}/mlflow.db") is not None
    assert ByClient(MlflowClient(), "0").batch == 1  # a database is not waited for, as a server is
    connection.execute("update alembic_version set version_num = 'of later'")
    connection.commit()
    connection.close()
    assert open_engine(f"sqlite:///{folder}/mlflow.db") is None
