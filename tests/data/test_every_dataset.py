"""What holds for every row of the table of data sets."""

from __future__ import annotations

import torch

from data import DATASETS, complete_data
from data.arrays import from_arrays, to_arrays
from data.batches import normalise
from data.dataset import Dataset, Split


def splits(dataset: Dataset) -> tuple[Split, Split, Split]:
    return dataset.train, dataset.val, dataset.test


def test_inputs_and_labels_have_their_declared_forms(every_dataset: Dataset) -> None:
    for split in splits(every_dataset):
        assert len(split) == len(split.inputs) == len(split.labels)
        assert split.labels.dtype == torch.int64
        assert (split.inputs.dtype, split.inputs.dim()) in {(torch.uint8, 4), (torch.float32, 2)}
        assert split.inputs.is_contiguous()


def test_every_class_is_in_every_split_and_no_other(every_dataset: Dataset) -> None:
    for split in splits(every_dataset):
        assert torch.unique(split.labels).tolist() == list(range(every_dataset.num_classes))


def test_classes_have_names_and_groups_have_two_or_more_classes(every_dataset: Dataset) -> None:
    assert len(set(every_dataset.class_names)) == every_dataset.num_classes
    if every_dataset.superclasses is not None:
        assert every_dataset.superclasses.shape == (every_dataset.num_classes,)
        assert every_dataset.superclasses.bincount().min() >= 2


def test_normalised_training_inputs_have_mean_0_and_deviation_1(every_dataset: Dataset) -> None:
    inputs = every_dataset.train.inputs[:20_000]
    if inputs.dtype == torch.float32:
        assert every_dataset.mean is None
        return

    values = normalise(inputs, every_dataset.mean, every_dataset.std)

    # constants of all images against those of a part: 0.02 is far above the difference, far below a wrong constant's
    assert values.mean((0, 2, 3)).abs().max() < 0.02
    assert (values.std((0, 2, 3)) - 1).abs().max() < 0.02


def test_a_data_set_survives_the_way_through_arrays(every_dataset: Dataset) -> None:
    copy = from_arrays(to_arrays(every_dataset))

    for before, after in zip(splits(every_dataset), splits(copy), strict=True):
        assert after.inputs.data_ptr() == before.inputs.data_ptr()
        assert torch.equal(after.inputs, before.inputs)
        assert torch.equal(after.labels, before.labels)
    assert (copy.mean, copy.std, copy.class_names) == (
        every_dataset.mean,
        every_dataset.std,
        every_dataset.class_names,
    )
    assert copy.num_classes == every_dataset.num_classes
    assert (copy.superclasses is None) == (every_dataset.superclasses is None)


def test_the_declaration_is_complete_and_its_defaults_are_legal(dataset_name: str) -> None:
    declaration = DATASETS[dataset_name]

    assert declaration.name == dataset_name
    assert declaration.about.endswith(".")
    assert declaration.source
    assert complete_data({"name": dataset_name}) == {"name": dataset_name, **declaration.parameters}
    assert declaration.parameters["label_noise"] == 0


def test_the_declared_number_of_classes_is_that_of_the_data(dataset_name: str, every_dataset: Dataset) -> None:
    declared = DATASETS[dataset_name].num_classes

    if callable(declared):
        declared = declared(complete_data({"name": dataset_name}))

    assert declared == every_dataset.num_classes
