"""The small file by which a running sweep says what it trains."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.trainables.config.run_result import RunResult

WRITE_SECONDS = 2.0
STALE_SECONDS = 30.0


class StatusFile:
    """Writes ``status.json`` into the study's folder now and then while a sweep runs.

    Args:
        folder: of the study.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "status.json"
        self._running: dict[str, str] = {}
        self._written = 0.0

    def started(self, run: PlannedRun) -> None:
        """A run was given to the executor."""
        self._running[run.key] = run.arm

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result."""
        self._running.pop(run.key, None)

    def tick(self) -> None:
        """Write, if it is time."""
        if time.monotonic() - self._written < WRITE_SECONDS and self._running:
            return
        self._written = time.monotonic()
        state = {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "running": self._running}
        partial = self._path.with_suffix(".partial")
        with contextlib.suppress(OSError):  # it only shows; that results can't be written is told by the journal
            partial.write_text(json.dumps(state))
            partial.replace(self._path)


def running_now(folder: Path) -> dict[str, str]:
    """Run keys to arms of what is being trained now; nothing where the sweep has ended or was killed."""
    path = folder / "status.json"
    if not path.exists():
        return {}
    state: dict[str, Any] = json.loads(path.read_text())
    if time.time() - state["time"] > STALE_SECONDS or not _alive(state):
        return {}
    running: dict[str, str] = state["running"]
    return running


def _alive(state: dict[str, Any]) -> bool:
    if state["host"] != socket.gethostname():
        return True
    try:
        os.kill(state["pid"], 0)
    except OSError:
        return False
    return True
