"""The models of a seed group, measured together on a split of their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import evaluation_batches
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.own_metrics import own_metrics
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.conformal.calibration import calibration_split
from setsweep.trainables.evaluation.conformal import (
    Calibrator,
    ConformalMeter,
    Scorer,
    Thresholds,
    conformal_sets,
)
from setsweep.trainables.evaluation.kept.scored_splits import Heads, SplitName
from setsweep.trainables.evaluation.metrics import Evaluation, Meter
from setsweep.trainables.evaluation.probabilities import probabilities_of, scale_of, to_probabilities
from setsweep.trainables.learners.learner import Learner


class SplitMeasure:
    """Measures the models of a learner, one a seed, on the splits of their data.

    Args:
        config: complete; of any of the seeds.
        datasets: of each seed.
        device: where the models are.
    """

    def __init__(self, config: RunConfig, datasets: Sequence[Dataset], device: torch.device) -> None:
        self._config, self._datasets, self._device = config, datasets, device
        self._own = own_metrics(config)
        self._class_counts = [
            torch.bincount(dataset.train.labels, minlength=dataset.num_classes) for dataset in datasets
        ]

    @torch.inference_mode()
    def __call__(
        self,
        learner: Learner,
        split: Literal["val", "test"],
        thresholds: Sequence[Mapping[int, float]] | None = None,
        conformal: Sequence[tuple[Scorer, Thresholds]] = (),
    ) -> list[Evaluation]:
        """The metrics of each model; thresholds are found on the split where none are given, and conformal sets are
        measured where they are calibrated.
        """
        meters = [self._meter(number, split, thresholds, conformal) for number in range(len(self._datasets))]
        feeds = [evaluation_batches(each, getattr(each, split), self._device) for each in self._datasets]
        for chunks in zip(*feeds, strict=True):
            scores = learner.scores([inputs for inputs, _ in chunks])
            for meter, each, (_, labels) in zip(meters, scores, chunks, strict=True):
                meter.add(each, labels)
        return [meter.finish() for meter in meters]

    @torch.inference_mode()
    def calibrate(self, learner: Learner, seeds: Sequence[int]) -> list[tuple[Scorer, Thresholds]]:
        """What makes the conformal sets of each model, whose runs have these seeds."""
        config, splits = self._config, [calibration_split(each) for each in self._datasets]
        scorers = [
            Scorer(config.with_seed(seed), counts) for seed, counts in zip(seeds, self._class_counts, strict=True)
        ]
        pairs = zip(scorers, splits, strict=True)
        calibrators = [Calibrator(conformal_sets(config), scorer, len(split)) for scorer, split in pairs]
        feeds = [
            evaluation_batches(each, split, self._device) for each, split in zip(self._datasets, splits, strict=True)
        ]
        for chunks in zip(*feeds, strict=True):
            scores = learner.scores([inputs for inputs, _ in chunks])
            for calibrator, each, (_, labels) in zip(calibrators, scores, chunks, strict=True):
                calibrator.add(to_probabilities(each, probabilities_of(config), scale_of(config)), labels)
        found = [calibrator.finish() for calibrator in calibrators]
        return list(zip(scorers, found, strict=True))

    @torch.inference_mode()
    def heads(self, learner: Learner, split: SplitName) -> list[Heads]:
        """The scores of every head of each model that scores the classes, in the main memory."""
        every = loss_declaration(self._config.loss["name"]).either_head_predicts
        pieces: list[list[Heads]] = [[] for _ in self._datasets]
        feeds = [evaluation_batches(each, getattr(each, split), self._device) for each in self._datasets]
        for chunks in zip(*feeds, strict=True):
            for kept, heads in zip(pieces, learner.heads([inputs for inputs, _ in chunks]), strict=True):
                kept.append(tuple(head.cpu() for head in (heads if every else heads[:1])))
        return [tuple(torch.cat(each) for each in zip(*kept, strict=True)) for kept in pieces]

    def _meter(
        self,
        number: int,
        split: str,
        thresholds: Sequence[Mapping[int, float]] | None,
        conformal: Sequence[tuple[Scorer, Thresholds]],
    ) -> Meter:
        dataset, counts = self._datasets[number], self._class_counts[number]
        examples = len(getattr(dataset, split))
        meter = None
        if conformal:
            scorer, calibrated = conformal[number]
            meter = ConformalMeter(calibrated, scorer, counts, examples)
        return Meter(
            num_classes=dataset.num_classes,
            ks=self._config.k,
            probabilities=probabilities_of(self._config),
            scale=scale_of(self._config),
            thresholds=None if thresholds is None else thresholds[number],
            train_class_counts=counts,
            num_examples=examples,
            conformal=meter,
            own=self._own,
        )
