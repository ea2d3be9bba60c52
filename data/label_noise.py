"""Label noise within superclasses, as in section 4.4 of the noised top-K paper (Garcin et al., ICML 2022), or as in its
published code.

There each training label is, with probability p, replaced by one of its superclass. The paper's statement that at
p = 0.5 "half of them (on average) have a different label than the original one" settles what its words leave open: the
replacement is drawn uniformly from the *other* classes of the superclass (`exact`, the default).

The published code, and that of Berrada et al. (ICLR 2018) before it, does something else (`published`): with
probability p a label is drawn anew from all five of its block, the old one included, so that p 4/5 of them change; and
the blocks are the classes 0 to 4, 5 to 9, ... of CIFAR-100, which are in alphabetical order and no superclasses. We
take the same blocks of any data set in the order of its classes, where they divide into fives; others are refused.

Validation and test labels stay as they are, and with `exact` so do those of a class that is alone in its superclass.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from setsweep.data.dataset import Dataset, Split
from setsweep.data.declaration import NOISE_BLOCK, indivisible
from setsweep.data.seeding import seeded_generator


def noisy_labels(labels: Tensor, superclasses: Tensor, probability: float, generator: torch.Generator) -> Tensor:
    """Labels of which each is, independently, replaced by another class of its superclass.

    From the same generator state, the labels changed at a low probability are changed in the same way at every higher
    one, so that noise levels are compared on nested noise.

    Args:
        labels: (n,) int64 class indices; left as they are.
        superclasses: (num_classes,) int64 group of each class.
        probability: of a change, 0..1.
        generator: decides which labels change, and to what.

    Returns:
        (n,) int64, new memory.
    """
    sizes = torch.bincount(superclasses)
    members = torch.argsort(superclasses, stable=True)  # classes, group by group
    starts = (sizes.cumsum(0) - sizes)[superclasses]
    place = torch.empty_like(members)
    place[members] = torch.arange(len(members))
    place -= starts  # of each class within its group
    changed, which = torch.rand(2, len(labels), dtype=torch.float64, generator=generator)
    others = sizes[superclasses[labels]] - 1
    # a product of a draw just below 1 may round up; alone in its superclass, a class comes round to itself
    step = 1 + (which * others).long().clamp(max=others - 1)
    replacement = members[starts[labels] + (place[labels] + step) % (others + 1)]
    return torch.where(changed < probability, replacement, labels)


def redrawn_labels(labels: Tensor, probability: float, generator: torch.Generator) -> Tensor:
    """Labels of which each is, independently, drawn anew from its block of five classes, itself included.

    From the same generator state, labels drawn anew at a low probability are drawn alike at every higher one.

    Args:
        labels: (n,) int64 class indices; left as they are.
        probability: of a new draw, 0..1.
        generator: decides which labels are drawn anew, and as what.

    Returns:
        (n,) int64, new memory.
    """
    redrawn, which = torch.rand(2, len(labels), dtype=torch.float64, generator=generator)
    # a product of a draw just below 1 may round up
    place = (which * NOISE_BLOCK).long().clamp(max=NOISE_BLOCK - 1)
    return torch.where(redrawn < probability, labels - labels % NOISE_BLOCK + place, labels)


def with_label_noise(dataset: Dataset, probability: float, *, seed: int, kind: str = "exact") -> Dataset:
    """The data set with noisy training labels drawn from a run's seed; everything else is shared with it.

    Args:
        dataset: with clean labels.
        probability: 0..1, see `noisy_labels` and `redrawn_labels`.
        seed: of the run.
        kind: "exact" or "published". Without superclasses all classes are one group of the exact kind.

    Raises:
        ValueError: published noise for classes that don't divide into blocks.
    """
    if kind == "published" and dataset.num_classes % NOISE_BLOCK:
        raise ValueError(f"data.label_noise_kind {indivisible(dataset.num_classes)}")
    if probability == 0:
        return dataset
    generator = seeded_generator(seed, "label_noise")
    if kind == "published":
        labels = redrawn_labels(dataset.train.labels, probability, generator)
    else:
        labels = noisy_labels(dataset.train.labels, _groups(dataset), probability, generator)
    return dataclasses.replace(dataset, train=Split(dataset.train.inputs, labels))


def _groups(dataset: Dataset) -> Tensor:
    if dataset.superclasses is not None:
        return dataset.superclasses
    return torch.zeros(dataset.num_classes, dtype=torch.int64)
