"""One model in training: what a step does to it besides the optimiser's update."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch, TrainingFeed
from setsweep.trainables.learners.learner import Weights
from setsweep.trainables.learners.solo import SoloLearner

CPU = torch.device("cpu")
IMAGES = {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}}


def _learner(make_config: Any, digits: Dataset, **training: Any) -> tuple[SoloLearner, Iterator[Batch]]:
    """A learner, and batches for one epoch of it."""
    config = make_config(**IMAGES, training={"optimizer": {"lr": 0.1}, **training})
    feed = TrainingFeed(digits, batch_size=40, seed=0, device=CPU)
    return SoloLearner(config, digits, CPU), feed.epoch()


def _distance(one: Weights, other: Weights) -> float:
    """Of the weights, without statistics."""
    names = [name for name in one if not name.endswith(("running_mean", "running_var", "num_batches_tracked"))]
    return math.sqrt(sum(float((one[name] - other[name]).square().sum()) for name in names))


def test_a_clipped_step_is_as_long_as_the_learning_rate_times_the_norm_at_most(
    make_config: Any, digits: Dataset
) -> None:
    # plain gradient descent: a step is the learning rate times the gradient
    learner, batches = _learner(make_config, digits, clip_norm=1e-3)
    before = learner.weights(0)
    learner.step([next(batches)], 0.5)
    assert _distance(learner.weights(0), before) == pytest.approx(0.5 * 1e-3, rel=1e-3)  # float32 weights of about 1


def test_gradients_within_the_norm_are_left_as_they_are(make_config: Any, digits: Dataset) -> None:
    after = []
    for clip_norm in (None, 1e6):
        learner, batches = _learner(make_config, digits, clip_norm=clip_norm)
        learner.step([next(batches)], 0.5)
        after.append(learner.weights(0))
    assert _distance(*after) == 0


def test_averaged_weights_are_the_average_of_what_is_trained_without_them(make_config: Any, digits: Dataset) -> None:
    plain, batches = _learner(make_config, digits)
    averaged, same = _learner(make_config, digits, ema=0.2)
    expected = averaged.weights(0)
    for number, (batch, again) in enumerate(zip(batches, same, strict=True)):
        assert torch.equal(plain.step([batch], 0.1), averaged.step([again], 0.1))
        share = 1 - min(0.2, (1 + number) / (10 + number))
        for name, value in plain.weights(0).items():
            expected[name] = value if name.endswith("tracked") else expected[name] + share * (value - expected[name])
    for name, value in averaged.weights(0).items():
        torch.testing.assert_close(value, expected[name])
    assert not torch.equal(*(each.scores([batch.inputs])[0] for each in (plain, averaged)))


def test_in_bfloat16_the_model_is_rounded_and_its_scores_and_loss_are_float32(
    make_config: Any, digits: Dataset
) -> None:
    exact, batches = _learner(make_config, digits)
    rounded, _ = _learner(make_config, digits, precision="bfloat16")
    batch = next(batches)
    scores, approximate = (learner.scores([batch.inputs])[0] for learner in (exact, rounded))
    assert approximate.dtype == torch.float32
    assert torch.equal(approximate, approximate.bfloat16().float())
    # 8 bits of mantissa through three layers: 1 % of the scores' size
    assert 0 < (approximate - scores).abs().max() < 0.01 * scores.abs().max() + 0.01
    losses = [learner.step([batch], 0.1) for learner in (exact, rounded)]
    assert losses[1].dtype == torch.float32
    assert losses[1].item() == pytest.approx(losses[0].item(), rel=0.01)
    assert all(value.dtype != torch.bfloat16 for value in rounded.weights(0).values())


def test_the_weights_given_are_copies(make_config: Any, digits: Dataset) -> None:
    learner, batches = _learner(make_config, digits)
    before = learner.weights(0)
    kept = {name: value.clone() for name, value in before.items()}
    learner.step([next(batches)], 0.5)
    assert _distance(before, kept) == 0 < _distance(before, learner.weights(0))


def test_soft_labels_reach_a_loss_that_takes_them(make_config: Any) -> None:
    config = make_config(training={"augment": {"mixup": 1.0}})
    dataset = load_dataset(config.data, seed=0)
    feed = TrainingFeed(dataset, batch_size=40, seed=0, device=CPU, augmentation=config.training.augment)
    batch = next(feed.epoch())
    assert batch.labels.shape == (40, 6)
    (loss,) = SoloLearner(config, dataset, CPU).step([batch], 0.1).tolist()
    assert math.isfinite(loss)
