"""Whether a configuration fits its data: what only the data can tell, told before the first step."""

from __future__ import annotations

import torch
from torch import nn

from setsweep.data.dataset import Dataset
from setsweep.data.user_function import is_own
from setsweep.losses.contract import check_contract
from setsweep.trainables.config.complete import check_k
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.own_metrics import check_metrics
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.sections import check_loss
from setsweep.trainables.conformal.calibration import check_calibration
from setsweep.trainables.learners.initial import initial_loss, initial_model, training_feed

CPU = torch.device("cpu")


def check_fit(config: RunConfig, dataset: Dataset) -> None:
    """Make all that a run starts with, and drop it.

    Args:
        config: complete.
        dataset: its data.

    Raises:
        ValueError: set sizes beyond the classes, too few calibration examples for a coverage, a batch beyond the
            examples or a last one too small, a model or an augmentation that doesn't take such inputs, pretrained
            weights that can't be had or don't fit, a function of the user's that can't be called, a loss or a metric of
            the user's that breaks its contract.
    """
    check_k(config.k, dataset.num_classes)
    check_loss(config.loss, k=None, classes=dataset.num_classes)
    check_calibration(config.coverage, dataset)
    training = config.training
    _check_cutout(training.augment.cutout, dataset)
    training_feed(config, dataset, CPU)
    model = initial_model(config, dataset, CPU)
    initial_loss(config, dataset, CPU)
    if is_own(config.loss["name"]):
        _check_own_loss(config, dataset.num_classes)
    check_metrics(config, dataset.num_classes)
    if training.batch_size != "full" and (len(dataset.train) - 1) % training.batch_size == 0:
        _check_single(model, dataset, training.batch_size)


def _check_cutout(cutout: int, dataset: Dataset) -> None:
    """Raise ValueError for a masked square that is larger than the images that the model is given."""
    sides = dataset.input_shape[1:]
    if sides and cutout > min(sides):
        size = " x ".join(map(str, sides))
        raise ValueError(f"training.augment.cutout must be <= the side of the images, {size} pixels, got {cutout}.")


def _check_own_loss(config: RunConfig, num_classes: int) -> None:
    """Raise ValueError for a loss that breaks what holds for every loss; tried on so few classes as tell."""
    given = {name: value for name, value in config.loss.items() if name not in ("name", "k")}
    k = config.loss.get("k", 1)
    check_contract(loss_declaration(config.loss["name"]), k=k, classes=min(num_classes, k + 4), **given)


def _check_single(model: nn.Module, dataset: Dataset, batch_size: int) -> None:
    """Raise ValueError where a model can't train on one example, of which an epoch's last batch would consist."""
    try:
        model.train()(torch.zeros(1, *dataset.input_shape))
    except ValueError as error:  # of batch normalisation where a channel has one value
        rule = "leave more than one example for the last batch of an epoch, as the model's batch normalisation needs"
        raise ValueError(
            f"training.batch_size must {rule}, got {batch_size} for {len(dataset.train)} examples."
        ) from error
