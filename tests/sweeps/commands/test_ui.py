"""``setsweep ui``: what it says, what it refuses, and the server that it becomes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.study.study import Study

RESULTS = "#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=means"


@pytest.fixture
def recorded(folder: Path, study: Study) -> Path:
    """The current folder, with the study in its database."""
    recorder = MlflowRecorder(study)
    recorder.start()
    recorder.finish("tables")
    assert recorder.close(), recorder.problem
    return folder


@pytest.fixture
def port() -> int:
    """One that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@pytest.mark.parametrize("named", [True, False])
def test_the_server_runs_in_one_worker_and_its_address_is_that_of_the_results(
    recorded: Path, spawn: Callable[..., subprocess.Popen[str]], port: int, named: bool
) -> None:
    process = spawn("ui", *(["which-loss"] if named else []), "--port", port)
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(2 if named else 3)]
    try:
        deadline = time.monotonic() + 120
        while not _answers(f"http://127.0.0.1:{port}/"):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        processes = _in_session(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    base = f"http://127.0.0.1:{port}/"
    assert said[0] == f"MLflow on {base} shows sqlite:///{recorded}/mlflow.db (Ctrl-C ends it)\n"
    assert said[-1] == f"Results{' of which-loss' if named else ''}: {base}{RESULTS}\n"
    assert said[1:-1] == ([] if named else [f"which-loss: {base}{RESULTS}\n"])
    assert processes <= 2  # MLflow and its one worker: no job runner


def test_a_study_that_is_not_recorded_is_refused_with_those_that_are(
    recorded: Path, setsweep: Callable[..., Any]
) -> None:
    said = setsweep("ui", "wich-loss", "--port", 5998)
    assert said.code == 2
    assert said.err.endswith("got 'wich-loss'. Did you mean 'which-loss'? Recorded: which-loss.\n")


def test_a_folder_without_records_is_refused(
    tmp_path: Path, setsweep: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    said = setsweep("ui")
    assert (said.code, said.out) == (2, "")
    assert f"ui must be started in a folder with records, got no {tmp_path}/empty/mlflow.db" in said.err
    assert not (tmp_path / "empty" / "mlflow.db").exists()


@pytest.mark.parametrize("port", [0, 65536])
def test_a_port_that_is_none_is_refused(recorded: Path, setsweep: Callable[..., Any], port: int) -> None:
    said = setsweep("ui", "--port", port)
    assert (said.code, said.err) == (2, f"setsweep: --port must be between 1 and 65535, got {port}.\n")


def test_a_port_that_is_taken_is_refused(recorded: Path, setsweep: Callable[..., Any]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = setsweep("ui", "--port", port)
    assert (said.code, said.err) == (
        2,
        f"setsweep: --port must be one that is free, got {port}: Address already in use.\n",
    )


def test_an_unknown_kind_of_store_is_refused_without_its_password(recorded: Path, setsweep: Callable[..., Any]) -> None:
    said = setsweep("ui", "--tracking-uri", "htp://me:secret@server")
    assert said.code == 2
    assert "--tracking-uri must begin with one of http, https, sqlite," in said.err
    assert "secret" not in said.err


class _Server(BaseHTTPRequestHandler):
    """Answers a search for experiments as MLflow does, with one study in it."""

    def do_POST(self) -> None:
        body = (
            b'{"experiments": [{"experiment_id": "7", "name": "which-loss", "lifecycle_stage": "active",'
            b' "tags": [{"key": "mlflow.sharedViewState.means", "value": "{}"}]}]}'
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def remote() -> Iterator[str]:
    """The address of a server with one study."""
    with HTTPServer(("127.0.0.1", 0), _Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_of_a_server_the_address_is_printed_without_the_password(remote: str, setsweep: Callable[..., Any]) -> None:
    said = setsweep("ui", "which-loss", "--tracking-uri", f"http://me:secret@{remote}/mlflow")
    assert said.code == 0, said.err
    results = RESULTS.replace("/1/", "/7/")
    assert f"Results of which-loss: http://{remote}/mlflow/{results}\n" in said.out
    assert "secret" not in said.out


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _in_session(session: int) -> int:
    """How many processes a session has."""
    found = 0
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            found += each.read_text().rpartition(")")[2].split()[3] == str(session)
        except OSError:  # it has just ended
            continue
    return found
