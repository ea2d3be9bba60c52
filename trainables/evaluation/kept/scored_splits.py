"""The scores of a model on whole splits, what they are measured against, and what they give."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.own_metrics import own_metrics
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.conformal import Calibrator, ConformalMeter, Scorer, conformal_sets
from setsweep.trainables.evaluation.metrics import Evaluation, evaluate
from setsweep.trainables.evaluation.probabilities import probabilities_of, scale_of, to_probabilities

SplitName = Literal["val", "test", "calibration"]
Heads = tuple[Tensor, ...]  # (examples, classes) float32 scores of each head
Splits = dict[SplitName, Heads]

_ROWS = 1024  # that become probabilities at a time, where all at once would double the memory


@dataclass(frozen=True)
class Truth:
    """What scores are measured against.

    Args:
        labels: (examples,) of each split.
        train_class_counts: (classes,) training examples of each class.
    """

    labels: Mapping[str, Tensor]
    train_class_counts: Tensor

    @classmethod
    def of(cls, dataset: Dataset) -> Truth:
        """That of a data set."""
        counts = torch.bincount(dataset.train.labels, minlength=dataset.num_classes)
        own = {} if dataset.calibration is None else {"calibration": dataset.calibration.labels}
        return cls({"val": dataset.val.labels, "test": dataset.test.labels, **own}, counts)

    @property
    def name(self) -> str:
        """16 hexadecimal digits that name the content."""
        parts = (*self.labels.values(), self.train_class_counts)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(f"{len(part)}/".encode() + part.to(torch.int64).contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]


def measured(
    scores: Splits, truth: Truth, config: RunConfig, head: int, thresholds: Literal["val", "test"] = "val"
) -> tuple[Evaluation, Evaluation | None]:
    """Validation and test metrics of one head; no test where its scores are not there.

    Args:
        scores: of a model.
        truth: what they are measured against.
        config: by which they are.
        head: which one.
        thresholds: the split that those of average-k sets come from.

    Raises:
        ValueError: too few calibration examples for a coverage that is asked for.
    """

    def one(split: SplitName, known: Mapping[int, float] | None, conformal: ConformalMeter | None) -> Evaluation:
        return evaluate(
            [(scores[split][head], truth.labels[split])],
            num_classes=len(truth.train_class_counts),
            ks=config.k,
            probabilities=probabilities_of(config),
            scale=scale_of(config),
            thresholds=known,
            train_class_counts=truth.train_class_counts,
            num_examples=len(scores[split][head]),
            conformal=conformal,
            own=own_metrics(config),
        )

    val = one("val", None, None)
    if "test" not in scores:
        return val, None
    return val, one("test", val.thresholds if thresholds == "val" else None, _meter(scores, truth, config, head))


def conformal_sizes(scores: Splits, truth: Truth, config: RunConfig, head: int) -> dict[str, Tensor]:
    """How many classes the conformal sets of the test examples have, (examples,), by the name of the sets.

    Args:
        scores, truth, config, head: see `measured`.

    Raises:
        ValueError: too few calibration examples for a coverage that is asked for.
    """
    meter = _meter(scores, truth, config, head)
    if meter is None:
        return {}
    for some, labels in _in_parts(scores["test"][head], truth.labels["test"]):
        meter.add(to_probabilities(some, probabilities_of(config), scale_of(config)), labels)
    return {each.name: sizes for each, sizes in meter.sizes().items()}


def _in_parts(scores: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(torch.split(scores, _ROWS), torch.split(labels, _ROWS), strict=True)


def _meter(scores: Splits, truth: Truth, config: RunConfig, head: int) -> ConformalMeter | None:
    """Conformal sets as training makes them; None: the configuration asks for none."""
    if not config.coverage:
        return None
    split: SplitName = "calibration" if "calibration" in scores else "val"
    scorer = Scorer(config, truth.train_class_counts)
    calibrator = Calibrator(conformal_sets(config), scorer, len(truth.labels[split]))
    for some, labels in _in_parts(scores[split][head], truth.labels[split]):
        calibrator.add(to_probabilities(some, probabilities_of(config), scale_of(config)), labels)
    return ConformalMeter(calibrator.finish(), scorer, truth.train_class_counts, len(truth.labels["test"]))
