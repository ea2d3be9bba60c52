"""The small file by which a running sweep says what it trains."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.running import Running, RunningRun
from setsweep.trainables.config.run_result import RunResult

WRITE_SECONDS = 2.0
STALE_SECONDS = 30.0


class StatusFile:
    """Writes ``status.json`` into the study's folder now and then while a sweep runs.

    Args:
        folder: of the study.
        seconds_left: gives how long the sweep will take, None where that isn't known.
    """

    def __init__(self, folder: Path, seconds_left: Callable[[], float | None] = lambda: None) -> None:
        self._seconds_left = seconds_left
        self._path = folder / "status.json"
        self._running = Running()
        self._written = 0.0

    def started(self, run: PlannedRun) -> None:
        """A run was given to the executor."""
        self._running.started(run)

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result."""
        self._running.finished(run.key)

    def news(self, moments: Sequence[Moment]) -> None:
        """What running runs have come to."""
        self._running.news(moments)

    def tick(self) -> None:
        """Write, if it is time."""
        if time.monotonic() - self._written < WRITE_SECONDS and self._running:
            return
        self._written = time.monotonic()
        runs = [dataclasses.asdict(run) for run in self._running.runs.values()]
        arms = {run.key: run.arm for run in self._running.runs.values()}
        state = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "time": time.time(),
            "running": arms,
            "runs": runs,
            "seconds_left": self._seconds_left(),
        }
        partial = self._path.with_suffix(".partial")
        with contextlib.suppress(OSError):  # it only shows; that results can't be written is told by the journal
            partial.write_text(json.dumps(state))
            partial.replace(self._path)


def running_now(folder: Path) -> dict[str, str]:
    """Run keys to arms of what is being trained now; nothing where the sweep has ended or was killed."""
    return {str(key): str(arm) for key, arm in _state(folder)["running"].items()}


def running_runs(folder: Path) -> list[RunningRun]:
    """What is being trained now, with what it has come to; nothing where the sweep has ended or was killed."""
    return [RunningRun(**run) for run in _state(folder)["runs"]]


def seconds_left(folder: Path) -> float | None:
    """How long the sweep that is running will take; None where none is, or that isn't known."""
    state = _state(folder)
    return state["seconds_left"] if state["running"] else None


def _state(folder: Path) -> dict[str, Any]:
    """What a sweep that is alive has said last."""
    nothing: dict[str, Any] = {"running": {}, "runs": [], "seconds_left": None}
    try:
        state: dict[str, Any] = nothing | json.loads((folder / "status.json").read_text())
        _check(state)
        return nothing if time.time() - state["time"] > STALE_SECONDS or not _alive(state) else state
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or one that somebody has edited
        return nothing


def _check(state: dict[str, Any]) -> None:
    """Raise an error of some kind for what `StatusFile` does not write."""
    left = state["seconds_left"]
    numbers, texts = [state["time"], 0.0 if left is None else left], [*dict(state["running"]).values()]
    for run in (RunningRun(**run) for run in state["runs"]):
        numbers += [run.seed, run.epoch, run.epochs, *run.metrics.values()]
        texts += [run.key, run.arm, *run.params]
    if not all(isinstance(each, int | float) for each in numbers) or not all(isinstance(each, str) for each in texts):
        raise TypeError(state)


def _alive(state: dict[str, Any]) -> bool:
    if state["host"] != socket.gethostname():
        return True
    try:
        os.kill(state["pid"], 0)
    except OSError:
        return False
    return True
