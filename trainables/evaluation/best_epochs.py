"""Which epoch each metric reports: the best on validation, for every metric of its own, or the last for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from setsweep.trainables.evaluation.metric import Metric, accuracy, criterion_of_conformal
from setsweep.trainables.evaluation.metrics import Evaluation
from setsweep.trainables.evaluation.packed import packed


@dataclass
class BestEpochs:
    """Best epoch per accuracy, and what was measured at it.

    Every accuracy, and every metric of the user's, is a criterion of its own: the first epoch that is best on
    validation. Other metrics are read at the epoch of their `Metric.criterion`, those of conformal sets at that of
    `criterion_of_conformal`.

    Args:
        keep: "best", or "last": the newest epoch always wins.

    Attributes:
        epoch, value: of each criterion, its best epoch and what it was on validation.
        measured: of each criterion, what is reported at its best epoch.
        tested: of each epoch that was tested, all of its test metrics by full name.
        thresholds: of each k, those at the best epoch of its average-k accuracy.
        hits: of each accuracy over all examples alike, at its best epoch, which test examples it counts, packed; known
            once the training is over, and so in no checkpoint.
    """

    keep: Literal["best", "last"]
    epoch: dict[str, int] = field(default_factory=dict)
    value: dict[str, float] = field(default_factory=dict)
    measured: dict[str, dict[str, float]] = field(default_factory=dict)
    tested: dict[int, dict[str, float]] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    hits: dict[str, bytes] = field(default_factory=dict)

    def improved(self, val: Mapping[str, float]) -> list[str]:
        """The criteria for which these validation metrics are the best so far."""
        criteria = [name for name in val if _criterion(name) == name]
        return [name for name in criteria if self.keep == "last" or val[name] > self.value.get(name, -math.inf)]

    def update(
        self, epoch: int, criteria: Sequence[str], val: Mapping[str, float], thresholds: Mapping[int, float]
    ) -> None:
        """Take this epoch as the best one of `criteria`."""
        for criterion in criteria:
            self.epoch[criterion] = epoch
            self.value[criterion] = val[criterion]
            self.measured[criterion] = _of(criterion, "val", val)
            for k, threshold in thresholds.items():
                if criterion == accuracy("avg", k).name:
                    self.thresholds[str(k)] = threshold

    def add_test(self, epoch: int, test: Evaluation) -> None:
        """Take what the model of this epoch gave on test, for the criteria that it is the best of."""
        if epoch not in self.epoch.values():
            return
        self.tested = {each: metrics for each, metrics in self.tested.items() if each in self.epoch.values()}
        self.tested[epoch] = {Metric.parse(name).on("test").name: value for name, value in test.metrics.items()}
        of_conformal = criterion_of_conformal(self.epoch)
        for criterion, best in self.epoch.items():
            if best == epoch:
                self.measured[criterion] |= _of(criterion, "test", test.metrics, of_conformal)
                if criterion in test.hits:
                    self.hits[criterion] = packed(test.hits[criterion])

    def metrics(self) -> dict[str, float]:
        """The final metrics: each as measured at the best epoch of its criterion."""
        return {name: value for measured in self.measured.values() for name, value in measured.items()}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {name: getattr(self, name) for name in ("epoch", "value", "measured", "tested", "thresholds")}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        for name, value in state.items():
            setattr(self, name, value)


def _of(
    criterion: str, split: Literal["val", "test"], metrics: Mapping[str, float], of_conformal: str = ""
) -> dict[str, float]:
    """The metrics that are read at the best epoch of a criterion, by full name."""
    mine = {name: value for name, value in metrics.items() if _criterion(name, of_conformal) in (criterion, None)}
    return {Metric.parse(name).on(split).name: value for name, value in mine.items()}


def _criterion(name: str, of_conformal: str = "") -> str | None:
    """The accuracy whose best epoch a metric is read at; None: any."""
    metric = Metric.parse(name)
    if metric.conformal is not None:
        return of_conformal
    return None if metric.criterion is None else metric.criterion.name
