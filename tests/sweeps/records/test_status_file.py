"""What a running sweep says of itself, and who believes it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.records import status_file
from setsweep.sweeps.records.running import RunningRun
from setsweep.sweeps.records.status_file import STALE_SECONDS, StatusFile, running_now, running_runs, seconds_left

MakePair = Callable[..., Any]


def test_what_was_begun_and_has_no_result_is_running(
    tmp_path: Path, make_pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_file, "WRITE_SECONDS", 0.0)
    status = StatusFile(tmp_path)
    pairs = [make_pair(*place) for place in (("focal", 0.0, 1), ("focal", 0.2, 1), ("cross_entropy", 0.0, 1))]
    for run, _ in pairs:
        status.started(run)
    status.tick()
    assert running_now(tmp_path) == {run.key: run.arm for run, _ in pairs}
    status.finished(*pairs[0])
    status.tick()
    assert running_now(tmp_path) == {run.key: run.arm for run, _ in pairs[1:]}
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


def test_how_long_it_will_take_is_told_as_long_as_something_is_trained(
    tmp_path: Path, make_pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_file, "WRITE_SECONDS", 0.0)
    assert seconds_left(tmp_path) is None
    status, (run, result) = StatusFile(tmp_path, lambda: 12.5), make_pair("focal", 0.0, 1)
    status.started(run)
    status.tick()
    assert seconds_left(tmp_path) == 12.5
    status.finished(run, result)
    status.tick()
    assert seconds_left(tmp_path) is None


def test_it_is_written_now_and_then_and_at_once_when_nothing_is_left(tmp_path: Path, make_pair: MakePair) -> None:
    """Now and then is every two seconds; a test that is held up for so long between its lines says nothing wrong."""
    status = StatusFile(tmp_path)
    (first, result), (second, _) = make_pair("focal", 0.0, 1), make_pair("focal", 0.0, 2)
    status.started(first)
    status.tick()
    began = time.monotonic()
    status.started(second)
    status.tick()
    said = running_now(tmp_path)
    assert set(said) == {first.key} or time.monotonic() - began > status_file.WRITE_SECONDS
    for run in (first, second):
        status.finished(run, result)
    status.tick()
    assert running_now(tmp_path) == {}
    assert json.loads((tmp_path / "status.json").read_text())["running"] == {}


def test_epoch_and_metrics_of_running_runs_can_be_read(
    tmp_path: Path, make_pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_file, "WRITE_SECONDS", 0.0)
    status, (run, result) = StatusFile(tmp_path), make_pair("focal", 0.0, 1)
    status.started(run)
    status.news([Moment(key=run.key, epoch=2, epochs=3, metrics={"train/loss": 1.5})])
    status.tick()
    assert running_runs(tmp_path) == [
        RunningRun(key=run.key, arm="focal", seed=1, params=run.params, epoch=2, epochs=3, metrics={"train/loss": 1.5})
    ]
    status.finished(run, result)
    status.tick()
    assert running_runs(tmp_path) == []


def test_where_no_sweep_has_said_anything_nothing_is_running(tmp_path: Path) -> None:
    assert running_now(tmp_path) == {}


def test_a_sweep_that_was_killed_runs_nothing(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(60)
    _say(tmp_path, pid=os.getpid())
    assert running_now(tmp_path) == {"a key": "avgk"}
    _say(tmp_path, pid=ended.pid)
    assert running_now(tmp_path) == {}


def test_a_sweep_on_another_host_runs_while_it_says_so(tmp_path: Path) -> None:
    _say(tmp_path, host="elsewhere", pid=-1)
    assert running_now(tmp_path) == {"a key": "avgk"}
    _say(tmp_path, host="elsewhere", pid=-1, time=time.time() - 2 * STALE_SECONDS)
    assert running_now(tmp_path) == {}


def _say(folder: Path, **changed: Any) -> None:
    """Write what a running sweep of one run would say of itself, with some of it changed."""
    said = {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "running": {"a key": "avgk"}}
    (folder / "status.json").write_text(json.dumps(said | changed))


@pytest.mark.parametrize(
    "edit",
    [
        lambda state: [],
        lambda state: {},
        lambda state: state | {"time": "now"},
        lambda state: state | {"running": 3},
        lambda state: state | {"running": {"key": {}}},
        lambda state: state | {"seconds_left": "long"},
        lambda state: state | {"runs": [{"key": "a"}]},
        lambda state: state | {"runs": [state["runs"][0] | {"metrics": {"train/loss": "low"}}]},
        lambda state: state | {"runs": [state["runs"][0] | {"epoch": None}]},
        lambda state: state | {"runs": [state["runs"][0] | {"command": "rm"}]},
    ],
)
def test_one_that_somebody_has_edited_says_nothing(tmp_path: Path, make_pair: MakePair, edit: Any) -> None:
    status, path = StatusFile(tmp_path), tmp_path / "status.json"
    status.started(make_pair("focal", 0.0, 1)[0])
    status.tick()
    assert running_now(tmp_path)
    path.write_text(json.dumps(edit(json.loads(path.read_text()))))
    assert (running_now(tmp_path), running_runs(tmp_path), seconds_left(tmp_path)) == ({}, [], None)
    path.write_bytes(b"\xff{")
    assert running_now(tmp_path) == {}
