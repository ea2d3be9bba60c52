"""Signal 9 at random moments to whatever takes part: nothing is lost, nothing is there twice, the table is the same.

``make kills``, which CI runs, kills drivers with a fixed seed; ``pytest -m slow tests/sweeps/sweep/test_kills.py`` is
the long form: up to twenty kills in each of eight studies.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest

Command = Callable[..., Any]

STUDY = """\
study: small
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 30, evaluate_every: 15, batch_size: 256}
k: [1, 2]
arms:
  cross_entropy: {}
  avgk: {alpha: {log_uniform: [0.1, 10]}}
search: {trials: 3, seeds: 1}
confirm: {seeds: 20, default: false}
compare: {baseline: cross_entropy}
"""
RUNS = 3 + 2 * 20
KILLS = 20  # of each of the long form's studies, or fewer where it ends before
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "300"}
PATIENCE = 600  # seconds, on a machine with much else to do
JOURNAL = Path("setsweep-results/small/journal.jsonl")
REPORT = Path("setsweep-results/small/report/report.json")


class Server:
    """MLflow's server on the database of the current folder; started again whenever it was killed."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it; whether it answers yet is not waited for."""
        command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(self.port)]
        settings = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_BACKEND_STORE_URI": "sqlite:///mlflow.db"}
        with Path("server.log").open("a") as log:
            self.process = subprocess.Popen(
                command, env={**os.environ, **settings}, stdout=log, stderr=log, start_new_session=True
            )

    def answers(self) -> bool:
        """Whether it is there by now."""
        try:
            return bool(urlopen(f"{self.uri}/health", timeout=2).status == 200)
        except (URLError, OSError):
            return False

    def kill(self) -> None:
        """With signal 9, and all of its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    """One for the current folder's database."""
    server = Server()
    yield server
    server.kill()


@pytest.fixture
def study(folder: Path) -> Path:
    """The study's file, in the current folder."""
    (folder / "small.yaml").write_text(STUDY)
    return folder / "small.yaml"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, empty_database: Path, snapshot: Command) -> Any:
    """The JSON report of the study when nothing happens to it, and what MLflow has of its runs."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    shutil.copy(empty_database, folder / "mlflow.db")
    (folder / "small.yaml").write_text(STUDY)
    command = [sys.executable, "-m", "setsweep.sweeps", "run", "small.yaml", "--in-process"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (said.returncode, "records are not in" in said.stderr) == (0, False), said.stderr
    return (folder / REPORT).read_bytes(), _points(snapshot(folder))


@pytest.mark.kills
@pytest.mark.timeout(600)
def test_a_study_survives_kills_of_its_driver(
    spawn: Command, study: Path, uninterrupted: Any, snapshot: Command
) -> None:
    draw = random.Random(15)
    start = lambda: spawn("run", study, "--in-process")  # noqa: E731
    for results in sorted(draw.sample(range(RUNS), 2)):
        driver = start()
        _until(lambda driver=driver, results=results: len(_results()) >= results or driver.poll() is not None)
        time.sleep(draw.uniform(0, 0.5))
        _end(driver)
    _finish(start)
    _check(uninterrupted, snapshot)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", ["ray", "in-process"])
def test_a_study_survives_kills_of_whatever_takes_part(
    spawn: Command, study: Path, uninterrupted: Any, server: Server, snapshot: Command, how: str, seed: int
) -> None:
    """Driver, a worker, the raylet, MLflow's server, whichever is drawn, whenever it comes."""
    draw, killed = random.Random(seed), Counter[str]()
    _until(server.answers)
    here = ["--in-process"] if how == "in-process" else []
    kinds = ("driver", "server") if here else ("driver", "worker", "raylet", "server")
    start = lambda: spawn("run", study, "--tracking-uri", server.uri, *here)  # noqa: E731
    driver = start()
    while sum(killed.values()) < KILLS and len(_results()) < RUNS:
        kind = draw.choice(kinds)
        _until(lambda driver=driver, kind=kind: _of_kind(driver, kind) or driver.poll() is not None)
        time.sleep(draw.uniform(0.0, 4.0))
        if kind == "server":
            server.kill()
            server.start()
            killed[kind] += 1
        elif processes := _of_kind(driver, kind):
            draw.choice(processes).kill()
            killed[kind] += 1
        if kind == "raylet":  # without which it can't go on, and must say so
            driver.wait(timeout=PATIENCE)
        if driver.poll() is not None:
            _end(driver)
            _until(server.answers)
            driver = start()
    print(f"\n{how} {seed}: {dict(killed)} killed", flush=True)
    _end(driver)
    _until(server.answers)
    _finish(start)
    _check(uninterrupted, snapshot)


def _of_kind(driver: subprocess.Popen[str], kind: str) -> list[psutil.Process]:
    """The processes that a driver has of a kind now."""
    try:
        process = psutil.Process(driver.pid)
        if kind in ("driver", "server"):
            return [process]
        name = "raylet" if kind == "raylet" else "ray::"
        return [child for child in process.children(recursive=True) if child.name().startswith(name)]
    except psutil.Error:
        return []


def _end(driver: subprocess.Popen[str]) -> None:
    """Kill the driver, and it alone; it may have come to its end before."""
    if driver.poll() is None:
        driver.kill()
    driver.communicate(timeout=PATIENCE)


def _finish(start: Callable[[], subprocess.Popen[str]]) -> None:
    """Let it come to its end. Records may be late on a machine with much else to do: the same command brings them."""
    for _ in range(3):
        driver = start()
        out, err = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == 0, err
        assert f"Complete. {RUNS} runs: {RUNS} done." in out
        if "records are not in" not in err:
            return
    pytest.fail(err)


def _check(uninterrupted: Any, snapshot: Command) -> None:
    """Journal and MLflow hold every run once, and every point; none is open; the report is the same to the byte."""
    assert sorted(Counter(_results()).values()) == [1] * RUNS
    recorded = snapshot(Path())  # finds each run once, or fails
    assert Counter(level for level, _ in recorded) == {"study": 1, "aggregate": 3 + 2, "run": RUNS}
    assert {run["status"] for run in recorded.values()} == {"FINISHED"}
    assert {key for level, key in recorded if level == "run"} == set(_results())
    assert (REPORT.read_bytes(), _points(recorded)) == uninterrupted
    assert not list(Path().glob("setsweep-results/small/checkpoints/*"))
    shutil.rmtree("setsweep-results")


def _points(recorded: Any) -> dict[str, list[tuple[str, int, float]]]:
    """All metric points of each run, as often as they are there, but for their times."""
    runs = {key: run["rows"] for (level, key), run in recorded.items() if level == "run"}
    return {key: sorted((name, step, value) for name, step, _, value, _ in rows) for key, rows in runs.items()}


def _results() -> list[str]:
    """The keys of the results in the journal, in their order; the last line may be half-written."""
    whole = JOURNAL.read_text().rpartition("\n")[0].splitlines() if JOURNAL.exists() else []
    records = [json.loads(line) for line in whole]
    return [record["result"]["key"] for record in records if record["record"] == "result"]


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
