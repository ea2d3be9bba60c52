"""Studies on a real cluster with a token: submitted, listed, asked after, stopped, resumed, from elsewhere."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from setsweep.sweeps.execution.cluster import ClusterError
from setsweep.sweeps.execution.job_service import JobService

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TOKEN = "0123456789abcdef" * 4
LONG = """\
study: long
data: {name: digits}
model: {name: "submitted_nets:wide"}
training: {epochs: 400, batch_size: 16}
k: [2]
arms: {cross_entropy: {}, focal: {}}
confirm: {seeds: 4}
"""
NETS = """\
from torch import nn

def wide(input_shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 8)), 8
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a head with two CPUs that takes jobs from who knows the token."""
    port, jobs, agent, client = _free_ports(4)
    with tempfile.TemporaryDirectory(prefix="s") as folder:  # short: Ray makes sockets in it
        command = ["ray", "start", "--head", "--block", "--num-cpus=2", f"--port={port}", f"--temp-dir={folder}/ray"]
        command += [f"--dashboard-port={jobs}", f"--dashboard-agent-listen-port={agent}"]
        command += [f"--ray-client-server-port={client}", "--object-store-memory=200000000"]
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0", "PATH": programs}
        with (Path(folder) / "log").open("w") as log:
            environment = {**os.environ, **settings}
            head = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        address = f"http://127.0.0.1:{jobs}"
        try:
            _until(lambda: _answers(f"{address}/api/gcs_healthz"), 90)
            _until(lambda: _has_nodes(address), 90)
            yield address
        finally:
            head.terminate()
            head.wait()


@pytest.fixture
def connected(
    cluster: str, setsweep: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """The command line of somebody who has noted the cluster."""
    monkeypatch.setenv("SETSWEEP_CLUSTER", str(folder / "cluster.yaml"))
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    said = setsweep("connect", cluster, "--storage", folder / "there", "--price", 2)
    assert said.code == 0, said.err
    assert "1 nodes with 2 CPUs and 0 GPUs" in said.out
    assert TOKEN not in said.out
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    return setsweep


def test_a_study_is_submitted_and_waited_for(connected: Callable[..., Any], small: Path, folder: Path) -> None:
    said = connected("submit", small, "--yes", "--wait")
    assert said.code == 0, said.err
    assert "small: 7 runs" in said.out
    assert "What runs take was not measured, since --yes was given" in said.out
    assert "Complete. 7 runs: 7 done." in said.out
    assert (folder / "there" / "small" / "journal.jsonl").exists()
    assert (folder / "there" / "mlflow.db").exists(), "records lie where the results do, if nothing says another place"
    assert [line.split()[:2] for line in connected("list").out.splitlines()[1:]] == [["small", "done"]]
    status = connected("status", "small", "--address", "cluster")
    assert (status.code, status.out.splitlines()[1].split()[:3]) == (0, ["arm", "done", "running"])

    failing = connected("submit", small, "--yes", "--wait", "--set", "training.optimizer.lr=1e30", "--replace")
    assert failing.code == 1, "that of the run"


def test_a_study_with_a_module_of_its_own_is_stopped_and_resumed_without_its_files(
    connected: Callable[..., Any], folder: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    (folder / "submitted_nets.py").write_text(NETS)
    (folder / "long.yaml").write_text(LONG)
    refused = connected("submit", "long.yaml", "--yes", "--env", "=1")
    assert (refused.code, refused.err) == (2, "setsweep: --env must be NAME=VALUE, got '=1'.\n")
    assert connected("submit", "long.yaml", "--yes", "--env", "LAYERS=a=b").code == 0
    again = connected("submit", "long.yaml", "--yes")
    assert (again.code, "must not be on the cluster already" in again.err) == (2, True)
    journal = folder / "there" / "long" / "journal.jsonl"
    _until(lambda: journal.exists() and '"status"' in journal.read_text(), 300)

    stopped = connected("stop", "long")
    assert "is stopped. 'setsweep resume long' goes on with it." in stopped.out
    kept = journal.read_text().count('"status":"done"')
    assert 0 < kept < 8
    assert f"Stopped; {kept} of 8 runs are done and kept." in connected("logs", "long", "--address", "cluster").out

    (folder / "submitted_nets.py").unlink()
    (folder / "long.yaml").unlink()
    resumed = connected("resume", "long", "--wait", "--take-over")
    assert resumed.code == 0, resumed.out
    assert JobService(cluster, TOKEN).all()[-1].command.count("--take-over") == 1
    assert JobService(cluster, TOKEN).all()[-1].environment == {"LAYERS": "a=b"}
    assert f"long: {8 - kept} of 8 runs to train" in resumed.out
    assert journal.read_text().count('"status":"done"') == 8


def test_the_doctor_looks_at_the_cluster(connected: Callable[..., Any], cluster: str) -> None:
    said = connected("doctor")
    assert said.code == 0, said.out
    assert f"{cluster}, version" in said.out
    assert "asks for a token: 1 nodes, 2 CPUs, 0 GPUs" in said.out
    assert "that of the cluster's head agrees" in said.out
    assert TOKEN not in said.out


def test_what_can_not_be_done_is_said(connected: Callable[..., Any], small: Path, cluster: str) -> None:
    asked = connected("submit", small)
    assert (asked.code, asked.err) == (2, "setsweep: --yes must be given where nobody can be asked.\n")
    unknown = connected("stop", "smal")
    assert unknown.code == 2
    assert "STUDY must have been submitted to" in unknown.err
    elsewhere = connected("list", "--address", cluster.replace("127.0.0.1", "localhost"))
    assert (elsewhere.code, "The token must be that of the cluster" in elsewhere.err) == (2, True)


def _free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).status_code == 200
    except requests.RequestException:
        return False


def _has_nodes(address: str) -> bool:
    try:
        return bool(JobService(address, TOKEN).nodes())
    except ClusterError:
        return False


def _until(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)
