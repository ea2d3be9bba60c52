"""What holds for every row of the table of data sets."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.data import DATASETS
from setsweep.data.arrays import from_arrays, to_arrays
from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset, Split
from setsweep.data.dataset_check import check_dataset
from setsweep.data.label_noise import with_label_noise
from setsweep.trainables.config.sections import check_data


def splits(dataset: Dataset) -> tuple[Split, Split, Split]:
    return dataset.train, dataset.val, dataset.test


def test_it_is_a_data_set_as_a_users_own_must_be(every_dataset: Dataset) -> None:
    assert check_dataset(every_dataset, source="it") is every_dataset


def test_tensors_are_contiguous(every_dataset: Dataset) -> None:
    for split in splits(every_dataset):
        assert not isinstance(split.inputs, Tensor) or split.inputs.is_contiguous()


def test_every_class_is_in_every_split_and_no_other(every_dataset: Dataset) -> None:
    for split in splits(every_dataset):
        assert torch.unique(split.labels).tolist() == list(range(every_dataset.num_classes))


def test_classes_have_names(every_dataset: Dataset) -> None:
    assert len(set(every_dataset.class_names)) == every_dataset.num_classes


def test_normalised_inputs_have_mean_0_and_deviation_1(every_dataset: Dataset) -> None:
    inputs = every_dataset.val.inputs
    if not isinstance(inputs, Tensor) or inputs.dtype == torch.float32:
        pytest.skip("has no constants of its own images")

    values = normalise(inputs, every_dataset.mean, every_dataset.std)

    # constants of all images against those of a part: 0.05 is far above the difference, far below a wrong constant's
    assert values.mean((0, 2, 3)).abs().max() < 0.05
    assert (values.std((0, 2, 3)) - 1).abs().max() < 0.05


def test_label_noise_stays_in_the_superclass_at_the_rate_asked_for(every_dataset: Dataset) -> None:
    groups = every_dataset.superclasses
    if groups is None:
        groups = torch.zeros(every_dataset.num_classes, dtype=torch.int64)

    noisy = with_label_noise(every_dataset, 0.3, seed=0).train.labels

    clean = every_dataset.train.labels
    assert torch.equal(groups[noisy], groups[clean])
    can_change = groups.bincount()[groups[clean]] > 1
    share = (noisy != clean)[can_change].double().mean().item()
    assert abs(share - 0.3) < 5 * math.sqrt(0.3 * 0.7 / int(can_change.sum()))  # false alarm 6e-7


def test_a_data_set_survives_the_way_through_arrays(every_dataset: Dataset) -> None:
    copy = from_arrays(to_arrays(every_dataset))

    for before, after in zip(splits(every_dataset), splits(copy), strict=True):
        if isinstance(before.inputs, Tensor):
            assert isinstance(after.inputs, Tensor)
            assert after.inputs.data_ptr() == before.inputs.data_ptr()
            assert torch.equal(after.inputs, before.inputs)
        else:
            assert not isinstance(after.inputs, Tensor)
            assert (after.inputs.folder, after.inputs.resize) == (before.inputs.folder, before.inputs.resize)
            assert after.inputs.names is before.inputs.names
        assert torch.equal(after.labels, before.labels)
    for member in ("mean", "std", "class_names", "crop", "num_classes", "input_shape"):
        assert getattr(copy, member) == getattr(every_dataset, member)
    assert (copy.superclasses is None) == (every_dataset.superclasses is None)


def test_the_declaration_is_complete_and_its_defaults_are_legal(dataset_name: str) -> None:
    declaration = DATASETS[dataset_name]

    assert declaration.name == dataset_name
    assert declaration.about.endswith(".")
    assert declaration.source
    assert check_data({"name": dataset_name}) == {"name": dataset_name, **declaration.defaults()}
    assert declaration.defaults()["label_noise"] == 0


def test_the_declared_number_of_classes_is_that_of_the_data(dataset_name: str, every_dataset: Dataset) -> None:
    declared = DATASETS[dataset_name].num_classes

    if callable(declared):
        declared = declared(check_data({"name": dataset_name}))

    assert declared in (None, every_dataset.num_classes)
