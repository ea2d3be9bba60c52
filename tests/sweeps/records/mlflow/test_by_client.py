"""Calls to a server: of a run in their order, of several runs side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

from setsweep.sweeps.records.mlflow.by_client import ByClient
from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

SECONDS = 30  # that calls wait for each other before the test is given up


class Server:
    """A client that notes the calls, each by its run; `before` may hold one up or refuse it."""

    tracking_uri = "http://127.0.0.1:1"

    def __init__(self, before: Callable[[str], object] = lambda run_id: None) -> None:
        self.calls: list[tuple[str, str]] = []
        self._before = before

    def __getattr__(self, name: str) -> Any:
        def call(run_id: str, *values: Any, **named: Any) -> None:
            self._before(run_id)
            self.calls.append((run_id, name))

        return call


def _write(writer: ByClient, run_id: str) -> None:
    writer.log(run_id, [MetricRow("loss", 0.5, 1, 1)], {"seed": "1"}, {"level": "run"})
    writer.rename(run_id, "name")
    writer.set_status(run_id, "FINISHED", 2)


def test_of_a_run_calls_are_made_in_their_order() -> None:
    server = Server()
    writer = ByClient(server, "0")  # type: ignore[arg-type]
    _write(writer, "a")
    assert server.calls == []
    writer.flush()
    writer.flush()
    assert server.calls == [("a", "log_batch"), ("a", "update_run"), ("a", "set_terminated")]


def test_of_several_runs_they_are_made_side_by_side() -> None:
    together = threading.Barrier(4, timeout=SECONDS)
    writer = ByClient(Server(lambda run_id: together.wait()), "0")  # type: ignore[arg-type]
    for run_id in "abcd":
        _write(writer, run_id)
    writer.flush()  # one after another the first would wait for the others in vain


def test_what_a_server_that_is_away_did_not_take_is_sent_again_and_nothing_twice() -> None:
    away = True

    def before(run_id: str) -> None:
        if away and run_id == "b":
            raise ConnectionError("away")

    server = Server(before)
    writer = ByClient(server, "0")  # type: ignore[arg-type]
    for run_id in "ab":
        _write(writer, run_id)
    with pytest.raises(ConnectionError):
        writer.flush()
    away = False
    writer.flush()
    assert sorted(server.calls) == sorted(
        (run, name) for run in "ab" for name in ("log_batch", "update_run", "set_terminated")
    )


def test_what_is_refused_is_told_and_holds_nothing_up() -> None:
    def before(run_id: str) -> None:
        if run_id == "a":
            raise MlflowException("no such name", INVALID_PARAMETER_VALUE)

    server = Server(before)
    writer = ByClient(server, "0")  # type: ignore[arg-type]
    for run_id in "ab":
        _write(writer, run_id)
    with pytest.raises(MlflowException, match="no such name"):
        writer.flush()
    writer.flush()
    assert {run_id for run_id, _ in server.calls} == {"b"}
    assert len(server.calls) == 3
