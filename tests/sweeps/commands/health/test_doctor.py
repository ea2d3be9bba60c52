"""``setsweep doctor``: each look finds what is well and what is wrong, and says what to mend."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.commands.health import storage
from setsweep.sweeps.commands.health.clock import compare_clock
from setsweep.sweeps.commands.health.cluster import check_cluster
from setsweep.sweeps.commands.health.finding import Finding
from setsweep.sweeps.commands.health.gpus import check_gpus
from setsweep.sweeps.commands.health.records import check_records, newest_schema
from setsweep.sweeps.commands.health.storage import check_storage
from setsweep.sweeps.commands.health.versions import check_versions


def wrong(findings: Iterator[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state != "well"]


@pytest.fixture
def answering() -> Iterator[Callable[[int], str]]:
    """Calls start a server that answers every question with a status; its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(b"3.1.0")

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Calls put a driver's program on the path that tells of GPUs so."""

    def put(line: str) -> None:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\necho '{line}'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path / "no-mps"))
        monkeypatch.setattr("torch.cuda.is_available", lambda: True)

    return put


def test_it_ends_with_1_where_something_is_wrong_and_tells_the_same_as_json(
    setsweep: Callable[..., Any], folder: Path
) -> None:
    well = setsweep("doctor")
    assert well.code == 0, well.out
    assert f"sqlite:///{folder}/mlflow.db has the schema of MLflow" in well.out
    ill = setsweep("doctor", "--json", "--tracking-uri", "http://127.0.0.1:1")
    assert ill.code == 1
    (found,) = (finding for finding in json.loads(ill.out) if finding["state"] == "wrong")
    assert found["of"] == "MLflow"
    assert found["said"] == "http://127.0.0.1:1 does not answer: ConnectionError."
    assert found["mend"]


def test_a_requirement_that_is_not_met_is_named_with_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "needy-1.0.dist-info"
    about.mkdir()
    needs = "Requires-Dist: numpy<1\nRequires-Dist: pyyaml\nRequires-Dist: no-such-thing>=2 ; extra == 'more'\n"
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: needy\nVersion: 1.0\n{needs}")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = wrong(check_versions("needy"))
    assert found.said.startswith("numpy must be <1, got ")
    assert found.mend == "pip install 'numpy<1'"


@pytest.mark.parametrize(
    ("line", "state", "said"),
    [
        ("NVIDIA H100, 570.1, 81559 MiB, Default, Disabled", "well", "NVIDIA H100, 81559 MiB, driver 570.1"),
        ("NVIDIA H100, 570.1, 81559 MiB, Default, Enabled", "note", "MIG is on"),
        ("Tesla T4, 570.1, 15360 MiB, Exclusive_Process, [N/A]", "note", "one process at a time"),
        ("Tesla T4, 570.1, 15360 MiB, Prohibited, [N/A]", "wrong", "nobody may use it"),
    ],
)
def test_how_a_gpu_may_be_shared_is_told(driver: Callable[[str], None], line: str, state: str, said: str) -> None:
    driver(line)
    (found,) = check_gpus()
    assert (found.of, found.state) == ("GPU 0", state)
    assert said in found.said


def test_gpus_that_pytorch_does_not_see_are_wrong(
    driver: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver("NVIDIA H100, 570.1, 81559 MiB, Default, Disabled")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert [finding.state for finding in check_gpus()] == ["wrong", "well"]


def test_a_storage_that_is_no_folder_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (found,) = wrong(check_storage(tmp_path / "file" / "results"))
    assert "can't be written: Not a directory" in found.said


def test_a_storage_that_a_restart_ends_or_that_keeps_no_second_writer_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mounts").write_text(
        f"disk / ext4 rw 0 0\nmemory {tmp_path} tmpfs rw 0 0\nx {tmp_path}/other nfs4 rw\n"
    )
    monkeypatch.setattr(storage, "MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(storage.fcntl, "flock", lambda file, how: None)  # what a file system without locks may do
    said = [finding.said for finding in wrong(check_storage(tmp_path))]
    assert any("is in memory (tmpfs)" in each for each in said)
    assert any("does not keep a second writer out" in each for each in said)
    assert storage.file_system(tmp_path / "other") == "nfs4"
    assert storage.file_system(tmp_path.parent) == "ext4"


def test_nothing_is_left_in_the_storage(tmp_path: Path) -> None:
    assert [finding.state for finding in check_storage(tmp_path / "not" / "there" / "yet")][1:3] == ["well", "well"]
    assert not list(tmp_path.iterdir())


def test_a_database_of_an_older_mlflow_is_to_be_upgraded(folder: Path) -> None:
    with sqlite3.connect(folder / "mlflow.db") as database:
        database.execute("update alembic_version set version_num = 'older'")
    database.close()
    (found,) = check_records(None)
    assert f"has the schema older, and MLflow {_version('mlflow')} needs {newest_schema()}" in found.said
    assert found.mend.endswith(f"mlflow db upgrade sqlite:///{folder}/mlflow.db")


@pytest.mark.parametrize(
    ("status", "said"), [(401, "does not let this user in"), (403, "does not let"), (500, "answers with HTTP 500")]
)
def test_a_server_that_is_not_to_be_written_is_wrong(answering: Callable[[int], str], status: int, said: str) -> None:
    (found,) = wrong(check_records(answering(status)))
    assert found.state == "wrong"
    assert said in found.said


def test_a_server_that_answers_says_its_version(answering: Callable[[int], str]) -> None:
    assert "answers, version 3.1.0" in [*check_records(answering(200))][-1].said


@pytest.mark.parametrize(("ahead", "state"), [(0, "well"), (3600, "note"), (-3600, "note")])
def test_a_clock_that_is_an_hour_wrong_is_told(ahead: int, state: str) -> None:
    (found,) = compare_clock("the server", formatdate(time.time() - ahead, usegmt=True))
    assert found.state == state
    assert not [*compare_clock("the server", None)], "one who tells no time has no clock"


def test_a_cluster_that_is_none_is_wrong(answering: Callable[[int], str]) -> None:
    (found,) = wrong(check_cluster(answering(500)))
    assert (found.of, found.state) == ("Ray", "wrong")
    assert "what answers there is no Ray cluster" in found.said


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)
