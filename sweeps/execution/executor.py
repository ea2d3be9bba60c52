"""What every executor does: take jobs, give results. Where and how is its own affair."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trainables.run_config import KeepModel, RunConfig, RunResult


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run to train.

    Args:
        config: what to train.
        checkpoint: file to checkpoint to and to resume from; must be reachable from wherever the job may run.
        keep_model: where to save the trained model, if it is wanted.
        root: where the data files lie; None: the default.
        download: whether missing data files may be downloaded.
        attempts: how often the job has been started, this time included.
    """

    config: RunConfig
    checkpoint: Path | None = None
    keep_model: KeepModel | None = None
    root: str | None = None
    download: bool = False
    attempts: int = 1


class ExecutorError(RuntimeError):
    """No run can be trained at all; the message says why."""


class Executor(Protocol):
    """Trains jobs on a number of slots."""

    @property
    def slots(self) -> int:
        """How many jobs train at once."""
        ...

    def submit(self, job: Job) -> None:
        """Queue a job; returns at once, raises nothing about the job itself."""
        ...

    def wait(self, timeout: float) -> list[RunResult]:
        """The results that have come since the last call; waits up to `timeout` seconds for the first one."""
        ...

    def close(self) -> None:
        """Stop; jobs that are not finished are given up."""
        ...
