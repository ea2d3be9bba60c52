"""``setsweep status``, and the small file by which a running sweep says what it trains."""

from __future__ import annotations

import argparse
import json
import os
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import storage_folder, stored_study
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
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
        partial.write_text(json.dumps(state))
        partial.replace(self._path)


def show_status(options: argparse.Namespace) -> int:
    """Print a line for every study of the storage, or every arm of one study; 1 where runs have failed."""
    if options.study is not None:
        study, folder = stored_study(options.study, options.storage)
        table, failed = _arms(study, folder)
    else:
        table, failed = _studies(storage_folder(options.storage))
    if table.row_count == 0:
        print(f"No study has been run in {options.storage} yet. 'setsweep studies' lists what can be run.")
        return 0
    Console().print(table)
    return 1 if failed else 0


def _studies(storage: Path) -> tuple[Table, int]:
    table, failed = _table("study"), 0
    for path in sorted(storage.glob("*/study.yaml")):
        study, folder = read_study(path), path.parent
        planner = Planner(study, Journal(folder, read_only=True).results)
        states = Counter[str](result.status for _, result in planner.runs() if result is not None)
        running = len(_running(folder))
        _row(table, study.name, states, running, planner.total)
        failed += states["failed"] + states["diverged"]
    return table, failed


def _arms(study: Study, folder: Path) -> tuple[Table, int]:
    table, failed = _table("arm"), 0
    planner = Planner(study, Journal(folder, read_only=True).results)
    running = Counter(_running(folder).values())
    for arm in study.arms:
        states = Counter[str](r.status for run, r in planner.runs() if run.arm == arm and r is not None)
        _row(table, arm, states, running[arm], planner.total_of(arm))
        failed += states["failed"] + states["diverged"]
    return table, failed


def _table(first: str) -> Table:
    table = Table(box=None)
    table.add_column(first)
    for heading in ("done", "running", "diverged", "failed", "waiting"):
        table.add_column(heading, justify="right")
    return table


def _row(table: Table, name: str, states: Counter[str], running: int, total: int) -> None:
    waiting = max(0, total - sum(states.values()) - running)
    numbers = (states["done"], running, states["diverged"], states["failed"], waiting)
    table.add_row(name, *(str(number) for number in numbers))


def _running(folder: Path) -> dict[str, str]:
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
