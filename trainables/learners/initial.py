"""What a run starts with, made from its configuration and its data alone: its batches, its model and its loss."""

from __future__ import annotations

import torch
from torch import nn

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import TrainingFeed
from setsweep.data.seeding import derived_seed
from setsweep.losses import build_loss
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.models.classifier import Classifier, build_model


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
        head=loss_declaration(config.loss["name"]).head,
        input_shape=dataset.input_shape,
        num_classes=dataset.num_classes,
        seed=derived_seed(config.seed, "initialisation"),
    ).to(device)


def initial_loss(config: RunConfig, dataset: Dataset, device: torch.device) -> tuple[nn.Module, torch.Generator]:
    """The loss of a run, and the generator of its noise."""
    noise = torch.Generator(device).manual_seed(derived_seed(config.seed, "loss_noise"))
    loss = build_loss(
        loss_declaration(config.loss["name"]),
        num_classes=dataset.num_classes,
        class_counts=torch.bincount(dataset.train.labels, minlength=dataset.num_classes),
        num_examples=len(dataset.train),
        generator=noise,
        **{name: value for name, value in config.loss.items() if name != "name"},
    )
    return loss.to(device), noise
