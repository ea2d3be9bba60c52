"""What running runs have come to: told now and then while they train, for those who watch; nothing depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.execution.executor import Job
from setsweep.trainables.evaluation.metric import TRAIN_LOSS, plain_accuracies

TELL_SECONDS = 1.0  # between two messages of a slot: each takes about a thousandth of that


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What a running run has come to.

    Args:
        key: of the run.
        epoch: that was evaluated last.
        epochs: that it has at most.
        metrics: of that evaluation: the training loss, and the accuracies on validation over all examples alike.
    """

    key: str
    epoch: int
    epochs: int
    metrics: Mapping[str, float]


Tell = Callable[[Sequence[Moment]], None]


class News:
    """Tells of the evaluations of a job, at most once a second: of each run the newest.

    Args:
        job: what is trained.
        tell: takes the moments.
    """

    def __init__(self, job: Job, tell: Tell) -> None:
        self._tell = tell
        self._runs = {config.seed: (config.key, config.training.epochs) for config in job.configs}
        names = [metric.on("val").name for metric in plain_accuracies(job.configs[0].k)]
        self._names = (TRAIN_LOSS.name, *names)
        self._newest: dict[int, Moment] = {}
        self._told = 0.0

    def __call__(self, seed: int, epoch: int, metrics: Mapping[str, float]) -> None:
        """An evaluation of a seed."""
        key, epochs = self._runs[seed]
        shown = {name: metrics[name] for name in self._names if name in metrics}
        self._newest[seed] = Moment(key=key, epoch=epoch, epochs=epochs, metrics=shown)
        if len(self._newest) < len(self._runs) and epoch == 1:
            return  # the other seeds of the group follow at once
        if time.monotonic() - self._told < TELL_SECONDS:
            return
        self._told = time.monotonic()
        moments, self._newest = [*self._newest.values()], {}
        self._tell(moments)
