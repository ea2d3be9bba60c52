"""The history of one seed: its curves, its best epochs, and the weights that its results come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.best_epochs import BestEpochs
from setsweep.trainables.evaluation.conformal import Thresholds
from setsweep.trainables.evaluation.metric import TRAIN_LOSS, Metric, accuracies
from setsweep.trainables.evaluation.metrics import Evaluation
from setsweep.trainables.learners.learner import Weights

STATE = ("epochs", "curves", "kept", "reason", "waited", "stopped", "pruned")


class History:
    """What one seed has measured so far.

    Args:
        config: complete.
        criterion: the accuracy whose best epoch's weights will be saved, if any.
        keep_scores: whether the scores of every kept epoch will be.

    Attributes:
        config, criterion: as given.
        best: which epoch each metric reports.
        epochs: the epochs that were evaluated.
        curves: metrics at those epochs.
        kept: thresholds and weights of the epochs that some metric reports.
        conformal: the thresholds of conformal sets at those, once they are tested.
        reason: why the seed has diverged; None as long as it has not.
        waited: evaluations in a row that were the best of no metric.
        stopped: the epoch after which these were too many; None as long as they are not.
        pruned: the epoch after which the seed was behind other trials; None as long as it is not.

    Raises:
        ValueError: the criterion is not measured.
    """

    def __init__(self, config: RunConfig, criterion: str | None, *, keep_scores: bool = False) -> None:
        known = [metric.name for metric in accuracies(config.k)]
        if criterion is not None and criterion not in known:
            raise ValueError(f"keep_model.criterion must be one of {', '.join(known)}, got {criterion!r}.")
        self.config, self.criterion, self._keep_scores = config, criterion, keep_scores
        self.best = BestEpochs(config.training.keep)
        self.epochs: list[int] = []
        self.curves: dict[str, list[float]] = {}
        self.kept: dict[int, tuple[dict[int, float], Weights]] = {}
        self.conformal: dict[int, Thresholds] = {}
        self.reason: str | None = None
        self.waited = 0
        self.stopped: int | None = None
        self.pruned: int | None = None

    @property
    def going(self) -> bool:
        """Whether there is more to be measured."""
        return self.reason is None and self.stopped is None and self.pruned is None

    def check_loss(self, epoch: int, loss: float) -> None:
        """Note a divergence where the training loss of an epoch is not finite."""
        if self.going and not math.isfinite(loss):
            self.reason = f"training loss must be finite, got {loss} in epoch {epoch}."

    def check_weights(self, epoch: int, finite: bool) -> None:
        """Note a divergence where the last step, which no loss tells of, has spoilt the weights."""
        if self.going and not finite:
            self.reason = f"weights must be finite, got inf or nan in epoch {epoch}."

    def add(self, epoch: int, loss: float, val: Evaluation, weights: Callable[[], Weights]) -> dict[str, float]:
        """Take the validation of an epoch, and copies of its weights where it is the best of some metric.

        Returns:
            The metrics of the epoch by full name.
        """
        improved = self.best.improved(val.metrics)
        self.best.update(epoch, improved, val.metrics, val.thresholds)
        if improved and self._wants_model(epoch):
            self.kept[epoch] = (val.thresholds, weights())
            wanted = set(self.best.epoch.values())
            self.kept = {epoch: model for epoch, model in self.kept.items() if epoch in wanted}
        metrics = {TRAIN_LOSS.name: loss}
        metrics |= {Metric.parse(name).on("val").name: value for name, value in val.metrics.items()}
        self.epochs.append(epoch)
        for name, value in metrics.items():
            self.curves.setdefault(name, []).append(value)
        self._lose_patience(epoch, improved=bool(improved))
        return metrics

    def _lose_patience(self, epoch: int, *, improved: bool) -> None:
        training = self.config.training
        self.waited = 0 if improved else self.waited + 1
        if training.patience is not None and self.waited >= training.patience and epoch < training.epochs:
            self.stopped = epoch

    def objective(self, metric: str) -> float:
        """What the seed would report of a validation accuracy if it ended now; 0 if it has diverged."""
        return 0.0 if self.reason is not None else self.best.value[Metric.parse(metric).on(None).name]

    def _wants_model(self, epoch: int) -> bool:
        """A search reports no test numbers, and with `keep: last` only the last epoch's model is ever reported."""
        training = self.config.training
        reported = training.keep == "best" or epoch == training.epochs
        return reported and (self.config.test or self.criterion is not None or self._keep_scores)

    def final_metrics(self) -> dict[str, float]:
        """Each metric at its best epoch, and the last training loss."""
        return self.best.metrics() | {TRAIN_LOSS.name: self.curves[TRAIN_LOSS.name][-1]}

    def saved_model(self) -> tuple[Weights, dict[int, float], Thresholds]:
        """The weights at the criterion's best epoch, and the thresholds that go with them: of average-k sets, and of
        conformal sets.
        """
        assert self.criterion is not None
        epoch = self.best.epoch[self.criterion]
        thresholds, weights = self.kept[epoch]
        return weights, thresholds, self.conformal.get(epoch, {})

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"best": self.best.state(), **{name: getattr(self, name) for name in STATE}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.best.restore(state["best"])
        for name in STATE:
            setattr(self, name, state.get(name))  # checkpoints from before pruning have none of it
