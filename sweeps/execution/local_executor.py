"""The executor without a cluster: runs train in this process, one after the other. For tests and debugging."""

from __future__ import annotations

from collections import deque

import torch

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.sweeps.execution.news import Tell
from setsweep.trainables.memory import keep_freed_memory


class LocalExecutor:
    """Trains a job whenever results are waited for.

    Args:
        cpus: threads of a run, as on a cluster: the number of threads is part of what makes results equal to the bit.
        gpus: what a run occupies of a GPU, for who counts it.
        datasets: shared data that are loaded already.
    """

    slots = 1
    room = 2

    def __init__(self, *, cpus: float = 1, gpus: float = 0, datasets: DatasetCache | None = None) -> None:
        torch.set_num_threads(max(1, int(cpus)))
        self.gpus = gpus
        keep_freed_memory()
        self._queue: deque[Job] = deque()
        self._runner = JobRunner(datasets or DatasetCache())

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._queue.append(job)

    def wait(self, timeout: float) -> list[Outcome]:
        """Train the next job; `timeout` does not apply."""
        if not self._queue:
            return []
        return self._runner.run(self._queue.popleft())

    def listen(self, tell: Tell) -> None:
        """Told while a job trains."""
        self._runner.tell = tell

    def close(self) -> None:
        """Give up what is queued."""
        self._queue.clear()
