"""What every executor does: take jobs, give results. Where and how is its own affair."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.places import AnyPath


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run to train, or a seed group: several seeds of one configuration that train together.

    Args:
        configs: what to train; equal but for the seed.
        checkpoint: file to checkpoint to and to resume from; must be reachable from wherever the job may run.
        keep_models: where to save the trained model of each, if it is wanted; empty: of none.
        keep_scores: the folder to write the scores of each to, if they are wanted; empty: of none.
        root: where the data files lie; None: the default.
        download: whether missing data files may be downloaded.
        probe: don't train: measure how many of these seeds are best trained together.
        attempts: how often the job has been started, this time included.
    """

    configs: tuple[RunConfig, ...]
    checkpoint: AnyPath | None = None
    keep_models: tuple[KeepModel | None, ...] = ()
    keep_scores: tuple[AnyPath | None, ...] = ()
    root: str | None = None
    download: bool = False
    probe: bool = False
    attempts: int = 1

    @cached_property
    def key(self) -> str:
        """Names the job: the run key, or a hash where it holds several runs or a probe."""
        keys = [config.key for config in self.configs]
        if len(keys) == 1 and not self.probe:
            return keys[0]
        return hashlib.sha256("/".join([*keys, str(self.probe)]).encode()).hexdigest()[:16]

    @property
    def outcome_keys(self) -> tuple[str, ...]:
        """The keys of the outcomes that it will have."""
        return (self.key,) if self.probe else tuple(config.key for config in self.configs)


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """What a probe has measured.

    Args:
        key: of its job.
        seeds: how many seeds to train together.
    """

    key: str
    seeds: int


Outcome = RunResult | GroupSize


class Executor(Protocol):
    """Trains jobs on a number of slots. What all executors promise:

    - Jobs start in the order in which they were submitted; one whose worker was lost starts again before all others.
    - Every run of a job has one outcome, once, whatever becomes of the job: done, diverged or failed. A probe has one.
    - All outcomes of a job come together, in the order of its configurations, in the answer to one `wait`.
    - Nothing about a job is raised: an error is the failure of its runs. Where no job can be trained at all, `wait`
      raises ExecutorError.
    - An outcome is that of the configuration, wherever and beside whatever it was trained.
    """

    @property
    def slots(self) -> int:
        """How many jobs train at once; it may change."""
        ...

    @property
    def room(self) -> int:
        """How many jobs it is of use to have submitted, trained and queued: so that no slot waits, and that a cluster
        which grows when it is asked knows how much to ask for.
        """
        ...

    @property
    def gpus(self) -> float:
        """What a job that is trained has of a GPU."""
        ...

    def submit(self, job: Job) -> None:
        """Queue a job; returns at once."""
        ...

    def wait(self, timeout: float) -> list[Outcome]:
        """The outcomes that have come since the last call; waits up to `timeout` seconds for the first one."""
        ...

    def listen(self, tell: Callable[[Sequence[Any]], None]) -> None:
        """Have it told what running runs have come to (`sweeps.execution.news.Moment`), while `wait` waits: now and
        then, the newest of each, and nothing that anything may depend on.
        """
        ...

    def close(self) -> None:
        """Give up what is not finished, which has no outcome then. Its checkpoints stay, so that it can go on another
        time; of the executor itself nothing stays, no thread and no process. Closing twice does no harm.
        """
        ...
