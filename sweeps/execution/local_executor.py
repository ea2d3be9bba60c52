"""The executor without a cluster: runs train in this process, one after the other. For tests and debugging."""

from __future__ import annotations

from collections import deque

import torch

from sweeps.execution.datasets import DatasetCache
from sweeps.execution.executor import Job
from trainables.run_config import RunResult


class LocalExecutor:
    """Trains a job whenever results are waited for.

    Args:
        cpus: threads of a run, as on a cluster: the number of threads is part of what makes results equal to the bit.
    """

    slots = 1

    def __init__(self, *, cpus: float = 1) -> None:
        torch.set_num_threads(max(1, int(cpus)))
        self._queue: deque[Job] = deque()
        self._datasets = DatasetCache()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._queue.append(job)

    def wait(self, timeout: float) -> list[RunResult]:
        """Train the next job; `timeout` does not apply."""
        if not self._queue:
            return []
        job = self._queue.popleft()
        return [self._datasets.run(job)]

    def close(self) -> None:
        """Give up what is queued."""
        self._queue.clear()
