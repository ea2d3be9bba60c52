"""Accuracies and set sizes of top-k and average-k sets, from scores that come in chunks.

Every chunk is turned at once into a rank and a probability per example and into what the threshold selection keeps, so
that memory holds one chunk, a few numbers per example and the selection's buffer. Nothing leaves the device of the
scores until the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from setsweep.losses.checks import at_labels, widened
from setsweep.losses.declaration import Probabilities
from setsweep.trainables.config.own_metrics import OwnMetrics, measured_by
from setsweep.trainables.evaluation.class_groups import class_groups
from setsweep.trainables.evaluation.conformal import ConformalMeter
from setsweep.trainables.evaluation.metric import CLASSES_PRESENT, Group, Metric, accuracy, set_size
from setsweep.trainables.evaluation.probabilities import to_probabilities
from setsweep.trainables.evaluation.thresholds import GivenThresholds, ThresholdSelection, at_least

Chunks = Iterable[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Evaluation:
    """What one split gave.

    Args:
        metrics: by name without the split, see `Metric`.
        thresholds: the threshold on the probabilities for each k.
        hits: (examples,) bool for each accuracy over all examples alike: whether the label is in the set.
    """

    metrics: dict[str, float]
    thresholds: dict[int, float]
    hits: Mapping[str, Tensor] = field(default_factory=dict, compare=False, repr=False)


def evaluate(
    chunks: Chunks,
    *,
    num_classes: int,
    ks: Sequence[int],
    probabilities: Probabilities,
    scale: float = 1.0,
    thresholds: Mapping[int, float] | None = None,
    train_class_counts: Tensor | None = None,
    num_examples: int | None = None,
    conformal: ConformalMeter | None = None,
    own: OwnMetrics | None = None,
) -> Evaluation:
    """The metrics of a split.

    Args:
        chunks: pairs of scores (rows, classes) and labels (rows,); read once.
        num_classes: number of columns of the scores.
        ks: set sizes, each from 1 to num_classes.
        probabilities: how scores become probabilities before they meet a threshold.
        scale: what they are multiplied with before that.
        thresholds: of each k, from validation; None finds them on these scores (two-head paper, Algorithm 1).
        train_class_counts: (classes,) training examples of each class. Where they put classes into at least two of the
            groups few (< 20), medium and many (> 100), the macro accuracies are given by group as well.
        num_examples: the number of rows in all chunks; bounds the memory of the search for thresholds.
        conformal: measures conformal sets as well, of this split alone.
        own: metrics of the user's, by name; they are given all chunks as one, which memory must hold.

    Raises:
        ValueError: a k is out of range or has no threshold, a label is out of range, there is no example, or a metric
            of the user's gives no number.
    """
    meter = Meter(
        num_classes=num_classes,
        ks=ks,
        probabilities=probabilities,
        scale=scale,
        thresholds=thresholds,
        train_class_counts=train_class_counts,
        num_examples=num_examples,
        conformal=conformal,
        own=own,
    )
    for scores, labels in chunks:
        meter.add(scores, labels)
    return meter.finish()


class Meter:
    """Measures a split whose scores come chunk by chunk; the arguments are those of `evaluate`."""

    def __init__(
        self,
        *,
        num_classes: int,
        ks: Sequence[int],
        probabilities: Probabilities,
        scale: float = 1.0,
        thresholds: Mapping[int, float] | None = None,
        train_class_counts: Tensor | None = None,
        num_examples: int | None = None,
        conformal: ConformalMeter | None = None,
        own: OwnMetrics | None = None,
    ) -> None:
        _check(ks, num_classes, thresholds)
        self._num_classes, self._ks, self._probabilities, self._scale = num_classes, ks, probabilities, scale
        self._train_class_counts, self._conformal = train_class_counts, conformal
        self._sets: ThresholdSelection | GivenThresholds = (
            ThresholdSelection(ks, num_classes, num_examples) if thresholds is None else GivenThresholds(thresholds)
        )
        self._parts: list[tuple[Tensor, Tensor, Tensor]] = []
        self._own, self._scores = own or {}, list[Tensor]()

    def add(self, scores: Tensor, labels: Tensor) -> None:
        """Take in a chunk: scores (rows, classes) and labels (rows,)."""
        likely = to_probabilities(scores, self._probabilities, self._scale)
        self._parts.append((label_ranks(scores, labels), at_labels(likely, labels), labels))
        self._sets.add(likely)
        if self._conformal is not None:
            self._conformal.add(likely, labels)
        if self._own:
            self._scores.append(scores)

    def finish(self) -> Evaluation:
        """The metrics of all chunks.

        Raises:
            ValueError: a label is out of range, or no chunk came.
        """
        if not self._parts:
            raise ValueError("chunks must hold at least one example, got none.")
        found, sizes = self._sets.finish()
        ranks, of_label, labels = (torch.cat(part) for part in zip(*self._parts, strict=True))
        hits = {accuracy("top", k): ranks < k for k in self._ks}
        hits |= {accuracy("avg", k): at_least(of_label, found[k]) for k in self._ks}
        metrics = _accuracies(hits, labels, self._num_classes, self._train_class_counts)
        metrics |= {set_size(k): sizes[k] / len(labels) for k in self._ks}
        metrics |= {} if self._conformal is None else self._conformal.finish()
        named = {metric.name: value for metric, value in metrics.items()}
        if self._own:
            named |= measured_by(self._own, torch.cat(self._scores), labels)
        thresholds = {k: found[k] for k in self._ks}
        return Evaluation(named, thresholds, {metric.name: hit for metric, hit in hits.items()})


def label_ranks(scores: Tensor, labels: Tensor) -> Tensor:
    """How many classes come before the label: those with a larger score, and of equal ones those with a lower index.

    The label is in the top k if its rank is below k. A row with a NaN score ranks its label behind all classes.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.

    Returns:
        (batch,) int64, from 0.
    """
    scores = widened(scores)
    own = at_labels(scores, labels).unsqueeze(1)
    lower = torch.arange(scores.shape[1], device=scores.device) < labels.unsqueeze(1)
    ranks = ((scores > own) | ((scores == own) & lower)).sum(1)
    return ranks.masked_fill(scores.amax(1).isnan(), scores.shape[1])


def _accuracies(
    hits: Mapping[Metric, Tensor], labels: Tensor, num_classes: int, train_class_counts: Tensor | None
) -> dict[Metric, float]:
    """The mean of each row of hits over examples, over the classes present, and over those of each group."""
    stacked = torch.stack(list(hits.values())).double()
    present = labels.bincount(minlength=num_classes)
    per_class = stacked.new_zeros(len(hits), num_classes).index_add_(1, labels, stacked) / present
    metrics = dict(zip(hits, stacked.mean(1).tolist(), strict=True)) | {CLASSES_PRESENT: float((present > 0).sum())}
    groups = {} if train_class_counts is None else class_groups(train_class_counts.to(labels.device))
    masks: dict[Group | None, Tensor] = {None: present > 0}
    masks |= {name: mask & (present > 0) for name, mask in groups.items() if len(groups) > 1}
    for group, mask in masks.items():
        if mask.any():
            means = per_class[:, mask].mean(1).tolist()
            metrics |= {replace(hit, macro=True, group=group): mean for hit, mean in zip(hits, means, strict=True)}
    return metrics


def _check(ks: Sequence[int], num_classes: int, thresholds: Mapping[int, float] | None) -> None:
    for k in ks:
        if not 1 <= k <= num_classes:
            raise ValueError(f"k must be between 1 and num_classes = {num_classes}, got {k}.")
        if thresholds is not None and k not in thresholds:
            raise ValueError(f"thresholds must have one for each k in {list(ks)}, got {sorted(thresholds)}.")
