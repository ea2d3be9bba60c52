"""What happens to each run, as it happens: ``logs/KEY.jsonl``, a line of JSON an event.

Every line has ``time``, ``study``, ``run`` and ``event`` (started, evaluated, done, diverged or failed), so that the
files of many studies can be read together. It only tells: results are in the journal, which tells of a full disk, too.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.trainables.config.run_result import RunResult

FOLDER = "logs"


class RunLog:
    """Watches a sweep and writes the files.

    Args:
        folder: of the study.
        study: its name.
    """

    def __init__(self, folder: Path, study: str) -> None:
        self._folder, self._study = folder, study

    def started(self, run: PlannedRun) -> None:
        """A run was given to the executor."""
        about = {"arm": run.arm, "point": dict(run.point), "stage": run.stage, "trial": run.trial, "seed": run.seed}
        self._write(run.key, "started", **about, params=dict(run.params))

    def news(self, moments: Sequence[Moment]) -> None:
        """What running runs have come to."""
        for moment in moments:
            about = {"epoch": moment.epoch, "epochs": moment.epochs, "metrics": dict(moment.metrics)}
            self._write(moment.key, "evaluated", **about)

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result."""
        about: dict[str, Any] = {"host": result.host, "attempts": result.attempts, "seconds": result.seconds}
        if result.reason is not None:
            about["reason"] = result.reason
        self._write(run.key, result.status, **about)

    def tick(self) -> None:
        """Nothing now."""

    def _write(self, key: str, event: str, **about: Any) -> None:
        line = {"time": round(time.time(), 3), "study": self._study, "run": key, "event": event, **about}
        with contextlib.suppress(OSError):
            path = log_file(self._folder, key)
            path.parent.mkdir(exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, default=str) + "\n")


def log_file(folder: Path, key: str) -> Path:
    """Of a run of a study."""
    return folder / FOLDER / f"{key}.jsonl"


def read_log(folder: Path, key: str) -> Iterator[str]:
    """A line an event, for people: ``2026-11-22 09:20:11  evaluated  epoch 3, epochs 10, train/loss 1.2``."""
    path = log_file(folder, key)
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # cut short by a kill
            event = json.loads(line)
            moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event["time"]))
            yield f"{moment}  {event['event']:9}  {', '.join(_told(event))}".rstrip()


def _told(event: dict[str, Any]) -> Iterator[str]:
    flat = {**event, **event.get("metrics", {}), **event.get("params", {}), **event.get("point", {})}
    for name, value in flat.items():
        if name not in ("time", "study", "run", "event", "metrics", "params", "point") and value is not None:
            yield f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
