from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from setsweep.data import load_base
from setsweep.data.augment import centre_crop, crop_and_flip, draw_augmentation
from setsweep.data.augmentation import Augmentation
from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch, TrainingFeed, evaluation_batches
from setsweep.data.image_files import ImageFiles
from setsweep.data.seeding import seeded_generator

CPU = torch.device("cpu")
STRONG = Augmentation(pad_crop=2, flip=True, cutout=3, mixup=0.3)


@pytest.fixture
def folder_dataset(write_images: Callable[..., None], tmp_path: Path) -> Dataset:
    write_images(tmp_path / "images", {"a": 9, "b": 14, "c": 11})
    return load_base({"name": "image_folder", "resize": 14, "crop": 10}, root=tmp_path)


def feed(dataset: Dataset, **changes: Any) -> TrainingFeed:
    return TrainingFeed(dataset, **{"batch_size": 5, "seed": 0, "device": CPU, **changes})


def assert_equal(ours: list[Batch], theirs: list[Batch]) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        for name in ("inputs", "labels", "indices"):
            assert torch.equal(getattr(one, name), getattr(other, name))


def test_an_epoch_has_every_example_once_with_its_own_label(digits: Dataset) -> None:
    batches = list(feed(digits, batch_size=100).epoch())

    indices = torch.cat([batch.indices for batch in batches])
    assert indices.sort().values.equal(torch.arange(1077))
    assert [len(batch.labels) for batch in batches] == [100] * 10 + [77]
    assert isinstance(digits.train.inputs, Tensor)
    for batch in batches:
        assert torch.equal(batch.labels, digits.train.labels[batch.indices])
        expected = normalise(digits.train.inputs[batch.indices], digits.mean, digits.std)
        assert torch.equal(batch.inputs, expected)


def test_augmented_batches_are_those_of_the_draws(digits: Dataset) -> None:
    augmentation = Augmentation(pad_crop=1, flip=True)

    batch = next(feed(digits, augmentation=augmentation).epoch())

    chance = seeded_generator(0, "augmentation")
    draws = draw_augmentation(augmentation, 1077, batch_size=5, generator=chance).rows(slice(0, 5))
    assert isinstance(digits.train.inputs, Tensor)
    images = crop_and_flip(digits.train.inputs[batch.indices], draws, (8, 8), padding=1, flip=True)
    assert torch.equal(batch.inputs, normalise(images, digits.mean, digits.std))


def test_augmentation_does_not_change_the_order(digits: Dataset) -> None:
    plain, strong = (next(feed(digits, augmentation=each).epoch()) for each in (None, STRONG))

    assert torch.equal(plain.indices, strong.indices)
    assert not torch.equal(plain.inputs, strong.inputs)


def test_every_epoch_and_seed_has_other_draws(digits: Dataset) -> None:
    augmentation = Augmentation(pad_crop=3)
    whole = feed(digits, augmentation=augmentation, batch_size="full")
    other = feed(digits, augmentation=augmentation, batch_size="full", seed=1)

    batches = [next(iter(each.epoch())) for each in (whole, whole, other)]

    for one, another in itertools.combinations(batches, 2):
        assert torch.equal(one.indices, torch.arange(1077))
        assert not torch.equal(one.inputs, another.inputs)


def test_mixup_gives_soft_labels(digits: Dataset) -> None:
    batch = next(feed(digits, augmentation=Augmentation(mixup=0.5)).epoch())

    assert batch.labels.shape == (5, 10)
    torch.testing.assert_close(batch.labels.sum(1), torch.ones(5))


def test_vectors_can_be_mixed_but_not_cropped(circle: Dataset) -> None:
    assert next(feed(circle, augmentation=Augmentation(mixup=0.5)).epoch()).labels.shape == (5, 6)

    with pytest.raises(ValueError, match=r"augmentation must be off but for mixup where inputs are no images, got"):
        feed(circle, augmentation=Augmentation(flip=True))


def test_stored_images_larger_than_the_crop_are_cropped_at_random_and_in_the_middle(digits: Dataset) -> None:
    dataset = dataclasses.replace(digits, crop=5)

    batch = next(feed(dataset).epoch())
    inputs, _ = next(evaluation_batches(dataset, dataset.val, CPU))

    assert dataset.input_shape == (1, 5, 5)
    assert batch.inputs.shape == (5, 1, 5, 5)
    assert isinstance(digits.val.inputs, Tensor)
    middles = centre_crop(digits.val.inputs[: len(inputs)], 5)
    assert torch.equal(inputs, normalise(middles, digits.mean, digits.std))


@pytest.mark.parametrize("skip", [0, 1, 4, 5])
def test_a_feed_goes_on_in_the_middle_of_an_epoch_as_if_never_stopped(folder_dataset: Dataset, skip: int) -> None:
    for dataset in (folder_dataset, dataclasses.replace(load_base({"name": "digits"}), crop=6)):
        whole, stopped, resumed = (feed(dataset, augmentation=STRONG) for _ in range(3))
        list(whole.epoch())
        list(stopped.epoch())
        expected = list(whole.epoch())

        list(itertools.islice(stopped.epoch(), skip))
        resumed.restore(stopped.state())

        assert_equal(list(resumed.epoch(skip=skip)), expected[skip:])
        assert_equal(list(resumed.epoch()), list(whole.epoch()))


def test_image_files_are_the_same_whatever_the_number_of_threads(folder_dataset: Dataset) -> None:
    alone, many = (list(feed(folder_dataset, augmentation=STRONG, decode_threads=n).epoch()) for n in (1, 6))

    assert_equal(alone, many)


def test_image_files_are_cropped_by_the_draws_and_flipped(folder_dataset: Dataset) -> None:
    augmentation = Augmentation(pad_crop=2, flip=True)
    batch = next(feed(folder_dataset, augmentation=augmentation).epoch())

    n = len(folder_dataset.train)
    draws = draw_augmentation(augmentation, n, batch_size=5, generator=seeded_generator(0, "augmentation"))
    files = folder_dataset.train.inputs
    assert isinstance(files, ImageFiles)
    for row, index in enumerate(batch.indices.tolist()):
        top, left = draws.places[row].tolist()
        window = torch.tensor(files.read(index, size=10, place=(top, left), padding=2))
        window = window.flip(-1) if draws.flips[row] else window
        assert torch.equal(batch.inputs[row], normalise(window[None], folder_dataset.mean, folder_dataset.std)[0])


def test_evaluation_of_image_files_shows_every_middle_in_order(folder_dataset: Dataset) -> None:
    split = folder_dataset.val
    pieces = list(evaluation_batches(folder_dataset, split, CPU))

    files = split.inputs
    assert isinstance(files, ImageFiles)
    middles = torch.stack([torch.tensor(files.read(index, size=10)) for index in range(len(split))])
    expected = normalise(middles, folder_dataset.mean, folder_dataset.std)
    assert torch.equal(torch.cat([inputs for inputs, _ in pieces]), expected)
    assert torch.equal(torch.cat([labels for _, labels in pieces]), split.labels)


def test_images_decoded_once_are_trained_on_as_tensors(write_images: Callable[..., None], tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 9, "b": 14}, width=16, height=16)
    settings = {"name": "image_folder", "resize": 16, "crop": 10}

    files, memory = (load_base({**settings, "store": store}, root=tmp_path) for store in ("files", "memory"))

    assert isinstance(memory.train.inputs, Tensor)
    ours, theirs = (list(feed(each, augmentation=STRONG).epoch()) for each in (files, memory))
    assert_equal(ours, theirs)  # of square images, the stored square is the whole


def test_training_on_the_cpu_shares_the_memory_of_the_split(digits: Dataset) -> None:
    training = feed(digits)

    assert isinstance(digits.train.inputs, Tensor)
    assert isinstance(training._inputs, Tensor)
    assert training._inputs.data_ptr() == digits.train.inputs.data_ptr()


def test_a_batch_larger_than_the_split_is_refused(digits: Dataset) -> None:
    with pytest.raises(
        ValueError, match=r"training\.batch_size must be <= the number of training examples = 1077, got 2000"
    ):
        feed(digits, batch_size=2000)
