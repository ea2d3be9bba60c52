from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from setsweep.data.dataset import Dataset, Split
from setsweep.data.dataset_check import check_dataset
from setsweep.data.image_files import ImageFiles, as_names

IMAGES = Split(torch.zeros(6, 1, 4, 5, dtype=torch.uint8), torch.arange(6) % 2)
GOOD = Dataset(IMAGES, IMAGES, IMAGES, num_classes=2, mean=(0.5,), std=(0.5,))
VECTORS = Split(torch.zeros(6, 3), torch.arange(6) % 2)
FILES = Split(ImageFiles("/", as_names("abcdef"), 8), torch.arange(6) % 2)


def test_good_data_sets_pass() -> None:
    vectors = dataclasses.replace(GOOD, train=VECTORS, val=VECTORS, test=VECTORS, mean=None, std=None)
    files = dataclasses.replace(GOOD, train=FILES, val=FILES, test=FILES, mean=None, std=None, crop=8)

    for dataset in (GOOD, vectors, files, dataclasses.replace(GOOD, crop=4)):
        assert check_dataset(dataset, source="it") is dataset


def split(inputs: Any, labels: Any = IMAGES.labels) -> dict[str, Any]:
    return {"val": Split(inputs, labels)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_classes": 1}, "it: num_classes must be a whole number >= 2, got 1."),
        ({"num_classes": 2.0}, "it: num_classes must be a whole number >= 2, got 2.0."),
        ({"val": None}, "it: val must be a setsweep.data.dataset.Split, got NoneType."),
        (split([1, 2]), "it: val.inputs must be a CPU tensor: images (n, channels, height, width) uint8, "),
        (split(torch.zeros(6, 3, dtype=torch.float64)), "(n, features) float32, got (6, 3) float64."),
        (split(torch.zeros(6, 4, 5, dtype=torch.uint8)), "(n, features) float32, got (6, 4, 5) uint8."),
        (split(torch.full((6, 3), torch.nan)), "(n, features) float32, got inf or nan."),
        (split(torch.zeros(6, 3, requires_grad=True)), "(n, features) float32, got (6, 3) float32 that requires grad."),
        (split(VECTORS.inputs), "it: examples must be alike in all splits, got {'train': '(1, 4, 5) uint8', 'val': "),
        (split(IMAGES.inputs, torch.zeros(6)), "it: val.labels must be a CPU tensor (n,) int64, got (6,) float32."),
        (split(IMAGES.inputs[:5]), "it: val must have as many inputs as labels, at least 1, got 5, 6."),
        (split(IMAGES.inputs[:0], IMAGES.labels[:0]), "as many inputs as labels, at least 1, got 0, 0."),
        (split(IMAGES.inputs, IMAGES.labels + 1), "labels must be between 0 and num_classes - 1 = 1, got 1..2."),
        (split(IMAGES.inputs, IMAGES.labels - 1), "labels must be between 0 and num_classes - 1 = 1, got -1..0."),
        ({"num_classes": 4}, "it: train must have an example of every class, got none of 2, 3."),
        ({"mean": (0.5, 0.5)}, "it: mean must be a tuple of 1 numbers, or None, got (0.5, 0.5)."),
        ({"mean": None}, "it: mean and std must be given together, got None, (0.5,)."),
        ({"std": (0.0,)}, "it: std must be > 0, got (0.0,)."),
        ({"crop": 5}, "it: crop must be None or between 1 and 4, got 5."),
        (
            {"superclasses": torch.tensor([0])},
            "superclasses must be a tensor (2,) int64 >= 0, or None, got (1,) int64.",
        ),
        ({"class_names": ("a",)}, "it: class_names must be a tuple of 2 names, or empty, got tuple of 1."),
    ],
)
def test_the_first_broken_rule_is_said(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        check_dataset(dataclasses.replace(GOOD, **changes), source="it")

    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": VECTORS, "val": VECTORS, "test": VECTORS}, "it: mean must be None for vectors, got (0.5,)."),
        (
            {"train": VECTORS, "val": VECTORS, "test": VECTORS, "mean": None, "std": None, "crop": 2},
            "it: crop must be None for vectors, got 2.",
        ),
        (
            {"train": FILES, "val": FILES, "test": FILES, "mean": None, "std": None},
            "it: crop must be between 1 and 8, got None.",
        ),
    ],
)
def test_crops_and_constants_belong_to_images(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        check_dataset(dataclasses.replace(GOOD, **changes), source="it")

    assert str(refusal.value) == message


def test_what_is_no_data_set_is_said() -> None:
    with pytest.raises(ValueError, match=r"^it must give a setsweep\.data\.dataset\.Dataset, got tuple\.$"):
        check_dataset((1, 2), source="it")
