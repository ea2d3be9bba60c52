"""The runs that are being trained now, with what they have come to: for the screen and for whoever asks elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.reports.wording import is_accuracy, number, settings
from setsweep.sweeps.study.study import Study
from setsweep.trainables.evaluation.metric import TRAIN_LOSS, accuracy


@dataclass(frozen=True, kw_only=True)
class RunningRun:
    """A run that is being trained.

    Args:
        key, arm, seed: of the run.
        params: its hyperparameters.
        epoch: that was evaluated last; 0: none yet.
        epochs: that it has at most; 0: not known yet.
        metrics: of that evaluation.
    """

    key: str
    arm: str
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict)
    epoch: int = 0
    epochs: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """How much of it is done, as far as that is known."""
        return self.epoch / self.epochs if self.epochs else 0.0

    def text(self, metric: str) -> str:
        """A line: "avgk, alpha = 0.316, seed 3: epoch 4 of 10, loss 1.203, val/avg2_accuracy 88.31 %"."""
        name = ", ".join(part for part in (self.arm, settings(self.params), f"seed {self.seed}") if part)
        if not self.epoch:
            return f"{name}: begun"
        parts = [f"epoch {self.epoch} of {self.epochs}"]
        if TRAIN_LOSS.name in self.metrics:
            parts.append(f"loss {self.metrics[TRAIN_LOSS.name]:.4g}")
        if metric in self.metrics:
            parts.append(f"{metric} {number(metric, self.metrics[metric])}{' %' if is_accuracy(metric) else ''}")
        return f"{name}: {', '.join(parts)}"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a running run had come to at a moment.

    Args:
        epoch: that was evaluated.
        metrics: of that evaluation.
        time: when it was told, Unix time.
    """

    epoch: int
    metrics: Mapping[str, float]
    time: float


@dataclass(kw_only=True)
class Shown:
    """A running run on its way to where it is shown now and then.

    Args:
        run: the run.
        began: when it was its turn, Unix time.
        waiting: its evaluations since it was shown last.
    """

    run: PlannedRun
    began: float
    waiting: list[Evaluation] = field(default_factory=list)

    def take(self) -> list[Evaluation]:
        """What waits, which then waits no more."""
        taken, self.waiting = self.waiting, []
        return taken


def live_metric(study: Study) -> str:
    """The metric on validation that is shown of a run that is being trained."""
    return study.search.objective if study.search else accuracy("avg", study.k[0], split="val").name


class Running:
    """Keeps who is being trained.

    Attributes:
        runs: by run key, in the order in which they began.
    """

    def __init__(self) -> None:
        self.runs: dict[str, RunningRun] = {}

    def __len__(self) -> int:
        return len(self.runs)

    def started(self, run: PlannedRun) -> None:
        """It is a run's turn to be trained."""
        self.runs[run.key] = RunningRun(key=run.key, arm=run.arm, seed=run.seed, params=dict(run.params))

    def news(self, moments: Iterable[Moment]) -> None:
        """What running runs have come to; of others nothing is known."""
        for moment in moments:
            if moment.key in self.runs:
                run = self.runs[moment.key]
                newest = {"epoch": moment.epoch, "epochs": moment.epochs, "metrics": moment.metrics}
                self.runs[moment.key] = replace(run, **newest)  # type: ignore[arg-type]  # fields of its own

    def finished(self, key: str) -> None:
        """A run has its result."""
        self.runs.pop(key, None)
