"""The calibration split: a part of validation, drawn from the run's seed, that leaves everything else as it was."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from setsweep.data import base_settings, load_dataset
from setsweep.data.calibration import with_calibration
from setsweep.data.dataset import Dataset, Split
from setsweep.data.dataset_check import check_dataset

DIGITS = {"name": "digits"}


def rows(split: Split) -> set[bytes]:
    return {image.numpy().tobytes() for image in split.inputs}


def calibration(share: float, *, seed: int) -> set[bytes]:
    """The images of the calibration split of digits."""
    return rows(load_dataset({**DIGITS, "calibration": share}, seed=seed).calibration)


def test_it_is_a_part_of_validation_and_the_rest_is_left() -> None:
    whole, parted = (load_dataset({**DIGITS, "calibration": share}, seed=3) for share in (0.0, 0.25))
    assert whole.calibration is None
    assert (len(parted.calibration), len(parted.val), len(whole.val)) == (90, 270, 360)
    assert rows(parted.calibration) | rows(parted.val) == rows(whole.val)
    assert not rows(parted.calibration) & rows(parted.val)
    for name in ("train", "test"):
        assert torch.equal(getattr(parted, name).labels, getattr(whole, name).labels)
    check_dataset(parted, source="digits")


def test_it_is_drawn_from_the_seed_of_the_run() -> None:
    assert calibration(0.5, seed=1) == calibration(0.5, seed=1)
    assert calibration(0.5, seed=1) != calibration(0.5, seed=2)


def test_a_smaller_one_is_part_of_a_larger_one() -> None:
    assert calibration(0.2, seed=1) < calibration(0.6, seed=1)


def test_runs_with_and_without_it_share_one_copy_of_the_data() -> None:
    assert base_settings(DIGITS) == base_settings({**DIGITS, "calibration": 0.5})


def test_data_drawn_from_the_seed_have_it_too() -> None:
    drawn = load_dataset({"name": "circle", "per_class": 10, "calibration": 0.5}, seed=1)
    assert (len(drawn.calibration), len(drawn.val)) == (30, 30)


@pytest.mark.parametrize("share", [0.001, 0.999])
def test_a_part_without_an_example_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"^data.calibration must set apart and leave at least one of the 360 "):
        load_dataset({**DIGITS, "calibration": share}, seed=0)


def test_data_with_a_calibration_split_of_their_own_keep_it() -> None:
    split = Split(torch.zeros(4, 2), torch.tensor([0, 1, 0, 1]))
    own = Dataset(split, split, split, num_classes=2, calibration=split)
    assert with_calibration(own, 0.0, seed=0) is own
    with pytest.raises(ValueError, match=r"^data.calibration must be 0 for data with a calibration split of their own"):
        with_calibration(own, 0.5, seed=0)
    with pytest.raises(ValueError, match=r"mine: calibration.labels must be between 0"):
        check_dataset(dataclasses.replace(own, calibration=Split(split.inputs, split.labels + 1)), source="mine")
