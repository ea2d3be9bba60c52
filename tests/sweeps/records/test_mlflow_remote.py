"""A real MLflow server with basic authentication, on SQLite and on PostgreSQL: who may write is told before anything is
trained.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

ADMIN, READER = ("admin", "password1234admin"), ("reader", "password1234reader")
SETTINGS = """
[mlflow]
default_permission = READ
auth_cache_ttl_seconds = 60
database_uri = sqlite:///{folder}/auth.db
admin_username = {admin[0]}
admin_password = {admin[1]}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""

pytestmark = pytest.mark.slow


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, folder: Path) -> str:
    """The database of a server."""
    if request.param == "SQLite":
        return f"sqlite:///{folder}/mlflow.db"
    create: Callable[[str], str] = request.getfixturevalue("postgresql")
    return create("of_a_server")


@pytest.fixture
def server(folder: Path, store: str) -> Iterator[str]:
    """The address of a server with two users: one writes, one reads."""
    pytest.importorskip("flask_wtf")  # of mlflow[auth]
    (folder / "auth.ini").write_text(SETTINGS.format(folder=folder, admin=ADMIN))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--app-name", "basic-auth", "--workers", "1"]
    settings = {
        "MLFLOW_BACKEND_STORE_URI": store,
        "MLFLOW_AUTH_CONFIG_PATH": str(folder / "auth.ini"),
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "of this test",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, **settings},
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _until_it_answers(address)
        _make_reader(address)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)


@pytest.fixture
def run_as(setsweep: Callable[..., Any], small: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Calls run the small study with the name and the password of a user."""

    def call(address: str, user: tuple[str, str]) -> Any:
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", user[0])
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", user[1])
        return setsweep("run", small, "--in-process", "--tracking-uri", address)

    return call


def test_only_who_may_write_can_run_and_the_others_are_told_before_training(
    server: str, run_as: Callable[..., Any], folder: Path
) -> None:
    unknown = run_as(server, ("admin", "wrong"))
    assert unknown.code == 2
    assert f"MLflow at {server} must let this user write, got 401 (it does not know the user)." in unknown.err
    assert "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN" in unknown.err
    assert not (folder / "setsweep-results/small/report").exists()

    writer = run_as(server, ADMIN)
    assert writer.code == 0, writer.err
    assert f"\n{server}/#/experiments/1/runs?" in writer.err
    assert ADMIN[1] not in writer.err

    (folder / "small.yaml").write_text((folder / "small.yaml").read_text() + "about: What is new.\n")
    reader = run_as(server, READER)
    assert reader.code == 2
    assert "got 403 (the user may not)." in reader.err


def _until_it_answers(address: str) -> None:
    deadline = time.monotonic() + 180
    while True:
        try:
            with urlopen(f"{address}/health", timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.3)


def _make_reader(address: str) -> None:
    question = json.dumps({"username": READER[0], "password": READER[1]}).encode()
    key = base64.b64encode(":".join(ADMIN).encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {key}"}
    with urlopen(Request(f"{address}/api/2.0/mlflow/users/create", question, headers), timeout=60):
        pass
