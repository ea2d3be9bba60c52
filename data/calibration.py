"""A calibration split: a part of the validation split that no choice looks at, for the thresholds of conformal sets.

It is drawn from the validation split, not from the training split, because conformal sets promise their coverage for
examples that are exchangeable with those they are calibrated on. Where the training images are imbalanced or their
labels noisy, those of validation and test are not, and a model has not seen the former. Training is then the same with
and without it; what is left of validation chooses epochs, thresholds and hyperparameters.

It is drawn without regard to classes, since a stratified part is not exchangeable with other examples.
"""

from __future__ import annotations

import dataclasses

import torch

from setsweep.data.dataset import Dataset
from setsweep.data.seeding import seeded_generator


def with_calibration(dataset: Dataset, share: float, *, seed: int) -> Dataset:
    """The data set with a part of its validation split set apart; everything else is shared with it.

    Args:
        dataset: without a calibration split, unless the share is 0.
        share: of the validation split, 0 to below 1; 0: the data set as it is. From the same seed, a smaller part is
            contained in a larger one.
        seed: of the run.

    Raises:
        ValueError: the part or what is left would have no example, or there is a calibration split already.
    """
    if share == 0:
        return dataset
    if dataset.calibration is not None:
        raise ValueError(f"data.calibration must be 0 for data with a calibration split of their own, got {share:g}.")
    examples = len(dataset.val)
    count = round(share * examples)
    if not 0 < count < examples:
        raise ValueError(
            f"data.calibration must set apart and leave at least one of the {examples} validation examples, "
            f"got {share:g}, which sets apart {count}."
        )
    order = torch.randperm(examples, generator=seeded_generator(seed, "calibration"))
    apart, left = order[:count].sort().values, order[count:].sort().values
    return dataclasses.replace(dataset, val=dataset.val.subset(left), calibration=dataset.val.subset(apart))
