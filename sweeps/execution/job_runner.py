"""Does jobs in this process: what a slot of a cluster does, and the executor without a cluster."""

from __future__ import annotations

from collections.abc import Callable

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import GroupSize, Job, Outcome
from setsweep.sweeps.execution.news import News, Tell
from setsweep.trainables.attempt import attempt
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.probes.seed_group_size import seed_group_size


class JobRunner:
    """Trains and probes.

    Args:
        datasets: the data of this process.
        tell: told now and then what the runs have come to.
        stop: asked after every step whether to stop there.
    """

    def __init__(
        self, datasets: DatasetCache, tell: Tell | None = None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._datasets, self.tell, self._stop = datasets, tell, stop

    def run(self, job: Job) -> list[Outcome]:
        """The outcomes of a job; nothing is raised but trainables.checkpoint.Interrupted, where it was to stop."""
        if job.probe:
            return [GroupSize(key=job.key, seeds=self.group_size(job))]
        return list(self.train(job))

    def train(self, job: Job) -> list[RunResult]:
        """The results of a job's runs; every error becomes a failed one."""
        return attempt(
            job.configs,
            lambda config: self._datasets.dataset(job, config),
            attempts=job.attempts,
            checkpoint=job.checkpoint,
            keep_models=job.keep_models,
            keep_scores=job.keep_scores,
            on_epoch=self.tell and News(job, self.tell),
            stop=self._stop,
        )

    def group_size(self, job: Job) -> int:
        """How many of a job's seeds are best trained together."""
        try:
            return seed_group_size(job.configs, [self._datasets.dataset(job, config) for config in job.configs])
        except Exception:  # noqa: BLE001 - what is wrong with the runs shows, and is recorded, when they are trained
            return 1
