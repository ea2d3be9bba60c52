from __future__ import annotations

import pytest
import torch

from setsweep.data import load_base
from setsweep.data.cifar100_lt import imbalanced_part
from setsweep.data.dataset import Dataset
from setsweep.data.seeding import seeded_generator

LABELS = torch.arange(10).repeat(500)  # of the size of CIFAR-10's classes, divided by ten


def kept(imbalance: float, seed: int = 0) -> set[int]:
    chosen: list[int] = imbalanced_part(LABELS, imbalance, seeded_generator(seed, "test")).tolist()
    return set(chosen)


def test_class_sizes_are_the_published_ones() -> None:
    counts = LABELS[sorted(kept(100))].bincount()

    # int(500 * 0.01 ** (i / 9)) for i = 0..9, the tenth of CIFAR-10-LT's 5000, 2997, 1796, ...
    assert counts.tolist() == [500, 299, 179, 107, 64, 38, 23, 13, 8, 5]


def test_without_imbalance_all_is_kept() -> None:
    assert kept(1) == set(range(5000))


def test_more_imbalance_keeps_a_part_of_what_less_keeps() -> None:
    assert kept(100) < kept(50) < kept(10)


def test_the_seed_decides_which_are_kept() -> None:
    assert kept(100) == kept(100)
    assert kept(100) != kept(100, seed=1)


def test_only_training_is_imbalanced(cifar100: Dataset, cifar100_lt: Dataset) -> None:
    counts = cifar100_lt.train.labels.bincount()

    assert (counts.max(), counts.min()) == (450, 4)
    assert (counts.diff() <= 0).all()
    assert cifar100_lt.val.labels.equal(cifar100.val.labels)
    assert cifar100_lt.test.labels.equal(cifar100.test.labels)


@pytest.mark.usefixtures("cifar100")  # skips without the files
def test_milder_imbalance_has_more_images() -> None:
    milder = load_base({"name": "cifar100_lt", "imbalance": 10})

    assert milder.train.labels.bincount().tolist()[::99] == [450, 45]
