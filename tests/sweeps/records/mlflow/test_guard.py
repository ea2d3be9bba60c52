"""A sweep that is killed leaves nothing RUNNING in MLflow, whatever kills it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow import guard
from setsweep.sweeps.records.mlflow.store import MlflowStore
from setsweep.sweeps.study.study import Study

pytestmark = pytest.mark.usefixtures("quiet")


def statuses() -> set[str]:
    return {run.info.status for run in MlflowClient().search_runs(["1"])}


@pytest.fixture
def left(study: Study, make_pair: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run that is RUNNING, its aggregate and its study; gives the id of the study's run, which is guarded."""
    planned, result = make_pair("focal", 0.0, 10)
    store = MlflowStore(study, None)
    store.write_running(planned, [], result.started, 5)
    store.flush()
    (run,) = MlflowClient().search_runs(["1"], "tags.level = 'study'")
    monkeypatch.setenv("SETSWEEP_GUARDED", run.info.run_id)
    monkeypatch.setenv("SETSWEEP_SESSION", guard.session())
    run_id: str = run.info.run_id
    return run_id


def test_all_that_is_running_of_a_killed_session_is_ended(left: str) -> None:
    assert statuses() == {"RUNNING"}
    guard.end_all()
    assert statuses() == {"KILLED"}


def test_a_session_that_has_taken_up_the_study_is_left_alone(left: str) -> None:
    MlflowClient().set_tag(left, guard.SESSION, "another 1")
    guard.end_all()
    assert statuses() == {"RUNNING"}


def test_a_guard_that_is_told_that_nothing_is_running_ends_without_a_look(folder: Path) -> None:
    watching = guard.Guard("no store at all", "no run")
    began = time.monotonic()
    with watching:
        assert watching._process.poll() is None
    assert watching._process.returncode == 0
    assert time.monotonic() - began < 30


SHOW_AND_WAIT = """
import pickle, sys, time
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
study, (planned, result) = pickle.loads(open("work.pickle", "rb").read())
recorder = MlflowRecorder(study)
recorder.start()
recorder.running(planned, [], result.started, 5)
assert recorder.flush()
print("shown", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_kill_9_leaves_nothing_running(
    study: Study, make_pair: Callable[..., Any], folder: Path, how: signal.Signals
) -> None:
    (folder / "work.pickle").write_bytes(pickle.dumps((study, make_pair("focal", 0.0, 10))))
    process = subprocess.Popen([sys.executable, "-c", SHOW_AND_WAIT], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"shown\n"
    assert statuses() == {"RUNNING"}
    os.killpg(process.pid, how)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 120
    while statuses() != {"KILLED"}:
        assert time.monotonic() < deadline
        time.sleep(0.5)
