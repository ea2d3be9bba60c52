"""CIFAR-100-LT: CIFAR-100 with exponentially fewer training images from class to class (Cui et al., 2019; Cao et al.,
2019).

Class i of L keeps n_max * imbalance^(-i / (L - 1)) training images, rounded down, n_max being those of a class before.
Published work applies this to all 50,000 training images and validates on the test; here it is applied to the 45,000
that remain beside our balanced validation split, so that n_max is 450, and 4 of the last class remain at the usual
imbalance of 100. Validation and test are balanced, and those of `cifar100`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from setsweep.data.cifar100 import DECLARATION as CIFAR100
from setsweep.data.cifar100 import load_cifar100
from setsweep.data.declaration import OF_RUN, SPLIT_SEED, DatasetDeclaration, DataSetting
from setsweep.data.files import Root

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from setsweep.data.dataset import Dataset

_LARGEST = 450


def load_cifar100_lt(*, root: Root, download: bool, split_seed: int, imbalance: float) -> Dataset:
    """CIFAR-100 with an imbalanced training split.

    Args:
        root: see `load_cifar100`.
        download: fetch the files if they are not there.
        split_seed: of the split into training and validation, and of which images a class keeps. More imbalance keeps
            a part of what less imbalance keeps.
        imbalance: images of the first class to those of the last; 1: balanced.
    """
    from torch import Tensor

    from setsweep.data.dataset import Split
    from setsweep.data.seeding import seeded_generator

    whole = load_cifar100(root=root, download=download, split_seed=split_seed, subset=None)
    images, labels = whole.train.inputs, whole.train.labels
    assert isinstance(images, Tensor)
    chosen = imbalanced_part(labels, imbalance, seeded_generator(split_seed, "cifar100_lt/part"))
    return dataclasses.replace(whole, train=Split(images[chosen], labels[chosen]))


def imbalanced_part(labels: Tensor, imbalance: float, generator: torch.Generator) -> Tensor:
    """Indices, ascending, of the examples that classes of equal size keep; see the formula above."""
    import torch

    from setsweep.data.splits import stratified_order

    sizes = torch.bincount(labels)
    share = float(imbalance) ** -(torch.arange(len(sizes), dtype=torch.float64) / (len(sizes) - 1))
    kept = (sizes.max() * share + 1e-9).floor()  # a product that should be whole may fall just below
    order = stratified_order(labels, generator)
    by_class = order[torch.argsort(labels[order], stable=True)]
    rank = torch.arange(len(labels)) - (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
    return by_class[rank < kept.repeat_interleave(sizes)].sort().values


DECLARATION = DatasetDeclaration(
    name="cifar100_lt",
    about="CIFAR-100 with exponentially fewer training images from class to class; validation and test balanced.",
    source=f"Cao et al. (2019), of {CIFAR100.source}",
    settings={
        **OF_RUN,
        "imbalance": DataSetting(default=100.0, low=1, high=_LARGEST, about="images of the first class to the last's"),
        "split_seed": SPLIT_SEED,
    },
    load=load_cifar100_lt,
    num_classes=CIFAR100.num_classes,
)
