from __future__ import annotations

import torch

from setsweep.data import load_base
from setsweep.data.dataset import Dataset


def test_the_split_is_60_20_20_percent_and_keeps_the_classes_shares(digits: Dataset) -> None:
    counts = torch.stack([split.labels.bincount() for split in (digits.train, digits.val, digits.test)])

    whole = counts.sum(0)
    assert counts.sum(1).tolist() == [1077, 360, 360]
    assert whole.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # scikit-learn's description
    assert (counts - whole * counts.sum(1, keepdim=True) / 1797).abs().max() < 2


def test_every_image_is_in_one_split(digits: Dataset) -> None:
    from sklearn.datasets import load_digits

    ours = torch.cat([digits.train.inputs, digits.val.inputs, digits.test.inputs]).flatten(1)
    theirs = torch.from_numpy(load_digits().images).flatten(1)

    levels = (theirs * 255 / 16).round().to(torch.uint8)
    assert sorted(ours.tolist()) == sorted(levels.tolist())


def test_pixels_cover_0_to_255(digits: Dataset) -> None:
    images = digits.train.inputs

    assert images.shape[1:] == (1, 8, 8)
    assert (int(images.min()), int(images.max())) == (0, 255)


def test_the_split_depends_on_split_seed_alone() -> None:
    first, again, other = (load_base({"name": "digits", "split_seed": seed}) for seed in (0, 0, 1))

    assert torch.equal(first.val.inputs, again.val.inputs)
    assert not torch.equal(first.val.inputs, other.val.inputs)
