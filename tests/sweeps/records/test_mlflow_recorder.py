"""The recorder gives MLflow everything, whatever happens to it or to MLflow."""

from __future__ import annotations

import pickle
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Groups = list[list[tuple[PlannedRun, RunResult]]]
Snapshot = dict[tuple[str, str], dict[str, Any]]

SOURCE_TREE = Path(__file__).parents[3]


def test_a_run_that_mlflow_refuses_does_not_hold_up_the_others(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    planned, result = groups[0][0]
    recorder = MlflowRecorder(study)
    recorder.start()
    recorder.record(planned, replace(result, metrics={"no star in a name: *": 1.0}))
    recorder.record(*groups[0][1])

    assert not recorder.close()

    assert recorder.pending == 1
    assert "Invalid" in str(recorder.problem)
    assert snapshot(folder)["run", groups[0][1][0].key]["status"] == "FINISHED"


def test_mlflow_away_never_blocks_and_is_a_problem_to_show(study: Study, groups: Groups) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        recorder = MlflowRecorder(study, tracking_uri=address)
        recorder.start()
        began = time.monotonic()
        for _ in range(100):
            recorder.record(*groups[0][0])
        assert time.monotonic() - began < 1
        assert not recorder.close(patience=8)
    assert recorder.pending == 100
    assert recorder.problem == "[Errno 111] Connection refused"


def test_results_follow_when_the_store_is_back(
    folder: Path, study: Study, groups: Groups, snapshot: Callable[[Path], Snapshot]
) -> None:
    away = folder / "away.db"
    (folder / "mlflow.db").rename(away)
    (folder / "mlflow.db").mkdir()  # no database can be opened here
    recorder = MlflowRecorder(study)
    recorder.start()
    recorder.record(*groups[0][0])
    time.sleep(1)
    (folder / "mlflow.db").rmdir()
    away.rename(folder / "mlflow.db")

    assert recorder.close(patience=60), recorder.problem
    assert recorder.problem is None
    assert snapshot(folder)["run", groups[0][0][0].key]["status"] == "FINISHED"


def test_what_takes_long_without_an_error_is_waited_for(
    folder: Path, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []
    nothing: Any = lambda: None  # noqa: E731
    slow = SimpleNamespace(experiment_id="1", batch=1, flush=nothing, close=nothing, guard=nullcontext)
    monkeypatch.setattr("setsweep.sweeps.records.mlflow_recorder._open", lambda *_: slow)
    recorder = MlflowRecorder(study)
    recorder.start()
    recorder._put(lambda store: (time.sleep(1.0), done.append(1)))
    assert not recorder.flush(patience=0.1, working=0.2)
    assert recorder.close(patience=0.1, working=60)
    assert done == [1]


RECORD_FROM_FILE = """
import pickle, sys
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
study, groups = pickle.loads(open(sys.argv[1], "rb").read())
recorder = MlflowRecorder(study)
recorder.start()
for group in groups:
    for planned, result in group:
        recorder.record(planned, result)
    recorder.group(group)
recorder.finish("the tables")
sys.exit(0 if recorder.close() else recorder.problem)
"""


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_nothing_and_doubles_nothing(
    folder: Path, study: Study, make_pair: Callable[..., Any], snapshot: Callable[[Path], Snapshot]
) -> None:
    groups = [[make_pair("focal", noise / 100, seed, epochs=8) for seed in range(4)] for noise in range(25)]
    (folder / "work.pickle").write_bytes(pickle.dumps((study, groups)))
    whole = folder / "whole"
    whole.mkdir()
    shutil.copy(folder / "mlflow.db", whole)
    assert _start(whole).wait() == 0

    draw = random.Random(1)
    for target in sorted(draw.sample(range(2, 125), 6)):  # of the 126 runs that there will be
        process = _start(folder)
        while process.poll() is None and _count_runs(folder) < target:
            time.sleep(0.002)
        time.sleep(draw.random() * 0.03)  # anywhere between two writes
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert _start(folder).wait() == 0

    assert snapshot(folder) == snapshot(whole)


def _start(folder: Path) -> subprocess.Popen[bytes]:
    work = folder if (folder / "work.pickle").exists() else folder.parent
    return subprocess.Popen(
        [sys.executable, "-c", RECORD_FROM_FILE, str(work / "work.pickle")],
        cwd=folder,
        env={"PYTHONPATH": str(SOURCE_TREE), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )


def _count_runs(folder: Path) -> int:
    database = sqlite3.connect(folder / "mlflow.db")
    count: int = database.execute("select count(*) from runs").fetchone()[0]
    database.close()
    return count
