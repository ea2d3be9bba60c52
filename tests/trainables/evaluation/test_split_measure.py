"""Measuring the models of a seed group on a split."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from setsweep.data.dataset import Split
from setsweep.data.feeds import EVALUATION_BATCH
from setsweep.trainables.evaluation.metrics import Evaluation, evaluate
from setsweep.trainables.evaluation.split_measure import SplitMeasure
from setsweep.trainables.learners.build import build_learner

CPU = torch.device("cpu")
CIRCLE = {"name": "circle", "per_class": 400}


def _at_once(learner: Any, datasets: Any, split: str, probabilities: Any, thresholds: Any = None) -> list[Evaluation]:
    """The metrics of each seed from the scores of the whole split."""
    parts = [getattr(dataset, split) for dataset in datasets]
    with torch.inference_mode():
        scores = learner.scores([part.inputs for part in parts])  # points are not normalised
    return [
        evaluate(
            [(scores[seed], part.labels)],
            num_classes=6,
            ks=[1, 2],
            probabilities=probabilities,
            thresholds=thresholds and thresholds[seed],
        )
        for seed, part in enumerate(parts)
    ]


@pytest.mark.parametrize("probabilities", ["softmax", "sigmoid"])
@pytest.mark.parametrize("seeds", [1, 3])
def test_each_seed_is_measured_on_its_own_data_piece_by_piece(seeds: int, probabilities: Any, seed_group: Any) -> None:
    configs, datasets = seed_group(seeds, data=CIRCLE, training={"threshold_scores": probabilities})
    assert len(datasets[0].val) > EVALUATION_BATCH[1]  # else there is one piece
    learner = build_learner(configs, datasets, CPU)
    measure = SplitMeasure(configs[0], datasets, CPU)
    val = measure(learner, "val")
    for found, expected in zip(val, _at_once(learner, datasets, "val", probabilities), strict=True):
        assert found.metrics == pytest.approx(expected.metrics, rel=1e-9)
        assert found.thresholds == pytest.approx(expected.thresholds, rel=1e-6)  # scores in float32
    thresholds = [found.thresholds for found in val]
    test = measure(learner, "test", thresholds)
    for found, expected in zip(test, _at_once(learner, datasets, "test", probabilities, thresholds), strict=True):
        assert found.metrics == pytest.approx(expected.metrics, rel=1e-9)
        assert found.thresholds == expected.thresholds
    assert len({found.metrics["top1_accuracy"] for found in val}) == seeds  # else they could be mixed up


def test_groups_of_classes_are_those_of_the_training_split(seed_group: Any) -> None:
    configs, (dataset,) = seed_group(1, data={"name": "circle", "per_class": 30})
    labels = dataset.train.labels
    rows = torch.cat([(labels == label).nonzero()[: 5 if label < 2 else None, 0] for label in range(6)])
    rare = dataclasses.replace(dataset, train=Split(dataset.train.inputs[rows], labels[rows]))
    learner = build_learner(configs, [dataset], CPU)
    (whole,), (found,) = (SplitMeasure(configs[0], [each], CPU)(learner, "val") for each in (dataset, rare))
    groups = found.metrics.keys() - whole.metrics.keys()
    assert {name.rpartition("_")[2] for name in groups} == {"few", "medium"}
    assert {name: found.metrics[name] for name in whole.metrics} == whole.metrics
