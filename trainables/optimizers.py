"""Optimisers and learning-rate schedules of a run."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn, optim

from trainables.run_config import Training


def build_optimizer(parameters: Iterable[nn.Parameter], training: Training, *, batch_size: int) -> optim.Optimizer:
    """The optimiser that `training` names, its learning rate scaled where a reference batch size is set.

    Args:
        parameters: of the model (and of the loss, where it has any).
        training: see `Training`.
        batch_size: examples per step, as a number.
    """
    settings = training.optimizer
    lr = settings.lr
    if training.reference_batch_size is not None:
        lr *= batch_size / training.reference_batch_size
    if settings.name == "sgd":
        return optim.SGD(
            parameters,
            lr=lr,
            momentum=settings.momentum,
            nesterov=settings.nesterov,
            weight_decay=settings.weight_decay,
        )
    kind = optim.Adam if settings.name == "adam" else optim.AdamW
    return kind(parameters, lr=lr, betas=settings.betas, weight_decay=settings.weight_decay)


def build_schedule(optimizer: optim.Optimizer, training: Training) -> optim.lr_scheduler.MultiStepLR:
    """The learning rate times `gamma` after each milestone epoch; stepped once an epoch."""
    return optim.lr_scheduler.MultiStepLR(optimizer, milestones=list(training.milestones), gamma=training.gamma)
