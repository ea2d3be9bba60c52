"""A real PostgreSQL, where its programs are installed: written in bulk like SQLite, and back after it was away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from mlflow import MlflowClient
from sqlalchemy.exc import OperationalError

from setsweep.sweeps.records.mlflow import database
from setsweep.sweeps.records.mlflow.database import open_engine
from setsweep.sweeps.records.mlflow.in_bulk import InBulk
from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet")]

Dump = Callable[[str], dict[str, list[tuple[Any, ...]]]]


def test_a_study_written_in_bulk_is_row_for_row_what_the_client_writes(
    postgresql: Callable[[str], str],
    write_histories: Callable[[str], None],
    dump: Dump,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uris = [postgresql(name) for name in ("in_bulk", "by_client")]
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    for uri in uris:
        write_histories(uri)
        monkeypatch.setattr(database, "REVISIONS", set())  # from here on through the client

    in_bulk, by_client = map(dump, uris)

    assert {name for name, rows in in_bulk.items() if rows} >= {"runs", "metrics", "latest_metrics", "inputs", "tags"}
    for table, rows in by_client.items():
        assert in_bulk[table] == rows, table


def test_what_waits_follows_after_the_connection_was_lost(postgresql: Callable[[str], str]) -> None:
    uri = postgresql("away")
    client = MlflowClient(uri)
    engine = open_engine(uri)
    assert engine is not None
    bulk = InBulk(engine, client, client.create_experiment("rows"))
    run_id = bulk.create("a", {"t": "1"}, 1)
    bulk.log(run_id, [MetricRow("loss", 0.5, 1, 1)], {}, {})
    plain = uri.replace("+psycopg", "")
    with psycopg.connect(plain.replace("/away", "/postgres"), autocommit=True) as server:
        server.execute("alter database away allow_connections false")
        with pytest.raises(OperationalError, match="not currently accepting connections"):
            bulk.flush()
        server.execute("alter database away allow_connections true")
    bulk.flush()
    assert [found for found, *_ in bulk.stored(["t"])] == [run_id]
    assert client.get_run(run_id).data.metrics == {"loss": 0.5}
    bulk.close()


def test_what_postgresql_has_no_character_for_is_refused_and_does_not_hold_up_the_others(
    postgresql: Callable[[str], str],
) -> None:
    uri = postgresql("refusals")
    client = MlflowClient(uri)
    engine = open_engine(uri)
    assert engine is not None
    bulk = InBulk(engine, client, client.create_experiment("rows"))
    ids = [bulk.create(name, {"t": value}, 1) for name, value in (("a", "1"), ("b", "\x00"), ("c", "3"))]
    with pytest.raises(ValueError, match="got 1 refusals"):
        bulk.flush()
    assert {run_id for run_id, *_ in bulk.stored(["t"])} == {ids[0], ids[2]}
    bulk.close()
