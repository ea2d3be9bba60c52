"""What is said where no cluster, or another one, answers; a cluster that does is in commands/cluster/test_submit.py."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import ray

from setsweep.sweeps.execution import job_service
from setsweep.sweeps.execution.cluster import ClusterError
from setsweep.sweeps.execution.job_service import JobService


@pytest.fixture
def answering() -> Iterator[Callable[[int, str], str]]:
    """Calls start a server that gives every question one answer; its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, body: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("address", ["ray://head:10001", "auto", "head:8265", "", "ftp://head"])
def test_an_address_of_another_kind_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match=r"--address must be http://HEAD:8265, where a cluster takes jobs"):
        JobService(address, None)


def test_where_nobody_answers_that_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        with pytest.raises(ClusterError, match=r"must be where a Ray cluster takes jobs .*: nobody answers there\."):
            JobService(f"http://127.0.0.1:{taken.getsockname()[1]}", None)


def test_one_who_listens_and_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_service, "PATIENCE", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(ClusterError, match=r"no answer within 0\.2 s"):
            JobService(f"http://127.0.0.1:{silent.getsockname()[1]}", None)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(("token", "got"), [(None, "none"), ("a guess", "another one")])
def test_a_wrong_token_is_told_and_not_shown(answering: Any, status: int, token: str | None, got: str) -> None:
    with pytest.raises(ClusterError, match=rf"The token must be that of the cluster .*, got {got}\.") as refused:
        JobService(answering(status, "Unauthorized"), token)
    assert "a guess" not in str(refused.value)


@pytest.mark.parametrize(("status", "body"), [(200, "<html>"), (404, "{}"), (500, "oh"), (200, "[1]")])
def test_what_is_no_ray_cluster_is_called_so(answering: Any, status: int, body: str) -> None:
    with pytest.raises(ClusterError, match=rf"what answers there is no Ray cluster \(HTTP {status}\)"):
        JobService(answering(status, body), None)


def test_another_version_of_ray_is_told_with_what_mends_it(answering: Any) -> None:
    address = answering(200, json.dumps({"ray_version": "2.9.3"}))
    mends = rf"got {ray.__version__} here and 2\.9\.3 at .* 'pip install ray==2\.9\.3' brings the cluster's"
    with pytest.raises(ClusterError, match=mends):
        JobService(address, None)


def test_an_address_in_the_environment_is_not_preferred_to_the_one_given(
    answering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:1")
    address = answering(200, json.dumps({"ray_version": ray.__version__}))
    assert JobService(address + "/", None).address == address
