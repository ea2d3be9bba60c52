"""What each seed learns with, made from its configuration alone: its model and its loss as they are before the first
step.
"""

from __future__ import annotations

import torch
from torch import nn

from data.dataset import Dataset
from data.seeding import derived_seed
from losses import LOSSES, build_loss
from trainables.models import Classifier, build_model
from trainables.run_config import RunConfig


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
