"""What every learner of a seed has in common: its feed, its model and its loss as they are before the first step, made
from its configuration alone, and how scores are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import TrainingFeed
from setsweep.data.seeding import derived_seed
from setsweep.losses import LOSSES, build_loss
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.device import lower_precision
from setsweep.trainables.learners.columns import Scores
from setsweep.trainables.models.table import Classifier, build_model


def training_feed(config: RunConfig, dataset: Dataset, device: torch.device) -> TrainingFeed:
    """The training batches of a run. Raises ValueError where they don't fit the data, see `TrainingFeed`."""
    training = config.training
    return TrainingFeed(
        dataset, batch_size=training.batch_size, seed=config.seed, device=device, augmentation=training.augment
    )


def initial_model(config: RunConfig, dataset: Dataset, device: torch.device) -> Classifier:
    """The model of a run, initialised from its seed."""
    return build_model(
        config.model,
        head=LOSSES[config.loss["name"]].head,
        input_shape=dataset.input_shape,
        num_classes=dataset.num_classes,
        seed=derived_seed(config.seed, "initialisation"),
    ).to(device)


def initial_loss(config: RunConfig, dataset: Dataset, device: torch.device) -> tuple[nn.Module, torch.Generator]:
    """The loss of a run, and the generator of its noise."""
    noise = torch.Generator(device).manual_seed(derived_seed(config.seed, "loss_noise"))
    loss = build_loss(
        config.loss["name"],
        num_classes=dataset.num_classes,
        class_counts=torch.bincount(dataset.train.labels, minlength=dataset.num_classes),
        num_examples=len(dataset.train),
        generator=noise,
        **{name: value for name, value in config.loss.items() if name != "name"},
    )
    return loss.to(device), noise


def compute_scores(
    network: Callable[[Tensor], Any], inputs: Tensor, training: Training, device: torch.device
) -> Scores:
    """The float32 scores that a network gives in the precision of the run, or a pair of them."""
    with lower_precision(training.precision, device):
        scores = network(inputs)
    return (scores[0].float(), scores[1].float()) if isinstance(scores, tuple) else scores.float()


def of_predicting_head(scores: Scores, training: Training) -> Tensor:
    """The scores of the head that predicts, where there are two."""
    return scores[0 if training.head == "ml" else 1] if isinstance(scores, tuple) else scores
