"""Label noise within superclasses, as in section 4.4 of the noised top-K paper (Garcin et al., ICML 2022).

There each training label is, with probability p, replaced by one of its superclass. The paper's statement that at
p = 0.5 "half of them (on average) have a different label than the original one" settles what its words leave open: the
replacement is drawn uniformly from the *other* classes of the superclass. Validation and test labels stay as they are,
and so do those of a class that is alone in its superclass.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from setsweep.data.dataset import Dataset, Split
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


def with_label_noise(dataset: Dataset, probability: float, *, seed: int) -> Dataset:
    """The data set with noisy training labels drawn from a run's seed; everything else is shared with it.

    Without superclasses all classes are one group.
    """
    if probability == 0:
        return dataset
    groups = dataset.superclasses
    if groups is None:
        groups = torch.zeros(dataset.num_classes, dtype=torch.int64)
    labels = noisy_labels(dataset.train.labels, groups, probability, seeded_generator(seed, "label_noise"))
    return dataclasses.replace(dataset, train=Split(dataset.train.inputs, labels))
