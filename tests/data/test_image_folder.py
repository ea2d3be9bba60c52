from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from setsweep.data import load_base
from setsweep.data.dataset import Dataset, Split
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles

Write = Callable[..., None]


def load(root: Path, **settings: Any) -> Dataset:
    return load_base({"name": "image_folder", "resize": 14, "crop": 12, **settings}, root=root)


def paths(split: Split) -> list[str]:
    files = split.inputs
    assert isinstance(files, ImageFiles)
    return [str(files.path(index).relative_to(files.folder)) for index in range(len(files))]


def test_folders_train_val_and_test_are_the_splits(write_images: Write, tmp_path: Path) -> None:
    for part, count in (("train", 4), ("val", 2), ("test", 3)):
        write_images(tmp_path / "images" / part, {"b": count, "a": 1})

    dataset = load(tmp_path)

    assert dataset.class_names == ("a", "b")
    assert paths(dataset.val) == ["val/a/000.jpg", "val/b/000.jpg", "val/b/001.jpg"]
    assert dataset.train.labels.tolist() == [0, 1, 1, 1, 1]
    assert dataset.test.labels.tolist() == [0, 1, 1, 1]
    assert dataset.input_shape == (3, 12, 12)


def test_without_folders_every_class_is_split_alike(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 20, "b": 40})

    dataset = load(tmp_path)

    assert dataset.test.labels.bincount().tolist() == [4, 8]  # a fifth
    assert dataset.val.labels.bincount().tolist() == [2, 3]  # a tenth of the 16 and 32 that remain
    every = paths(dataset.train) + paths(dataset.val) + paths(dataset.test)
    assert len(set(every)) == len(every) == 60


def test_images_below_a_relative_root_are_found_from_everywhere(
    write_images: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_images(tmp_path / "images", {"a": 9, "b": 9})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    dataset = load(Path())
    monkeypatch.chdir("elsewhere")  # as a worker is, which gets the paths alone

    assert isinstance(dataset.train.inputs, ImageFiles)
    assert dataset.train.inputs.read(0, size=2).shape == (3, 2, 2)


def test_validation_is_held_out_of_training_where_it_has_no_folder(write_images: Write, tmp_path: Path) -> None:
    for part in ("train", "test"):
        write_images(tmp_path / "images" / part, {"a": 10, "b": 10})

    dataset = load(tmp_path, val_fraction=0.3)

    assert dataset.val.labels.bincount().tolist() == [3, 3]
    assert len(dataset.test) == 20
    assert all(path.startswith("train/") for path in paths(dataset.val))


def test_a_class_with_one_image_trains_on_it(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"many": 10, "one": 1, "three": 3, "two": 2})

    dataset = load(tmp_path)

    counts = [split.labels.bincount(minlength=4).tolist() for split in (dataset.train, dataset.val, dataset.test)]
    assert counts == [[7, 1, 1, 1], [1, 0, 1, 0], [2, 0, 1, 1]]


def test_the_split_depends_on_its_seed_alone(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 30, "b": 30})

    same, again, other = (load(tmp_path, split_seed=seed) for seed in (0, 0, 1))

    assert paths(same.val) == paths(again.val) != paths(other.val)


def test_other_files_hidden_folders_and_folders_below_classes_are_no_trouble(
    write_images: Write, tmp_path: Path
) -> None:
    write_images(tmp_path / "photos", {"a": 9, "b/deep": 9, ".hidden": 2})
    (tmp_path / "photos" / "notes.txt").write_text("")
    (tmp_path / "photos" / "a" / "notes.txt").write_text("")
    write_images(tmp_path / "photos" / "b", {".copies": 3})
    (tmp_path / "photos" / "a" / "._000.jpg").write_text("no picture")

    dataset = load(tmp_path, folder="photos")

    assert dataset.class_names == ("a", "b")
    assert len(dataset.train) + len(dataset.val) + len(dataset.test) == 18


def test_class_folders_that_differ_between_splits_are_named(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images/train", {"a": 2, "b": 2, "c": 2})
    write_images(tmp_path / "images/val", {"a": 2, "c": 2})
    write_images(tmp_path / "images/test", {"a": 2, "b": 2, "c": 2, "d": 2})

    with pytest.raises(
        DataError,
        match=r"^Class folders must be the same in train, val, test, got train without d; val without b, d\.$",
    ):
        load(tmp_path)


def test_a_class_without_training_images_is_named(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 5, "b": 0})

    with pytest.raises(DataError, match=r"Every class of .*images' must have a training image, got none of b\."):
        load(tmp_path)


def test_a_split_without_images_is_named(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 1, "b": 1})

    with pytest.raises(DataError, match=r"Split test of .*images' must have an image, got none\."):
        load(tmp_path)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([], r"Folder .*images' must exist, found none\. Set SETSWEEP_DATA or data\.root"),
        (["images"], r"Folder .*images' must hold one folder a class, found none\."),
        (["images/a"], r"Folder .*images' must hold the folders of at least 2 classes, got a alone\."),
        (["images/val/a", "images/test/a"], r"Folder .*images' must hold train beside val and test, found none\."),
    ],
)
def test_folders_of_another_form_are_said(tmp_path: Path, made: list[str], message: str) -> None:
    for folder in made:
        (tmp_path / folder).mkdir(parents=True)

    with pytest.raises(DataError, match=message):
        load(tmp_path)


@pytest.fixture
def broken(write_images: Write, tmp_path: Path) -> Path:
    """12 images a class, of which two can't be read."""
    write_images(tmp_path / "images", {"a": 12, "b": 12})
    (tmp_path / "images/a/003.jpg").write_text("no picture")
    whole = (tmp_path / "images/b/007.jpg").read_bytes()
    (tmp_path / "images/b/007.jpg").write_bytes(whole[: len(whole) // 2])
    return tmp_path


def test_unreadable_images_are_counted_and_named(broken: Path) -> None:
    with pytest.raises(DataError) as refusal:
        load(broken)

    message = str(refusal.value)
    assert "must be readable, got 2 of 24 that are not: a/003.jpg (cannot identify image file" in message
    assert "b/007.jpg (" in message
    assert message.endswith("Mend or remove them, or leave them out with unreadable: skip.")


def test_unreadable_images_are_left_out_where_the_study_says_so(broken: Path) -> None:
    with pytest.warns(UserWarning, match=r"got 2 of 24 that are not: .* They are left out\."):
        dataset = load(broken, unreadable="skip")

    every = paths(dataset.train) + paths(dataset.val) + paths(dataset.test)
    assert len(every) == 22
    assert not {"a/003.jpg", "b/007.jpg"} & set(every)
    for split in (dataset.train, dataset.val, dataset.test):
        assert [path[0] for path in paths(split)] == ["ab"[label] for label in split.labels.tolist()]


def test_images_can_be_decoded_once_into_memory(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 10, "b": 10})

    files, memory = (load(tmp_path, store=store) for store in ("files", "memory"))

    assert isinstance(memory.train.inputs, Tensor)
    assert memory.train.inputs.shape == (len(files.train), 3, 14, 14)
    assert isinstance(files.train.inputs, ImageFiles)
    assert torch.equal(memory.train.inputs[5], torch.tensor(files.train.inputs.read(5, size=14)))
    assert torch.equal(memory.train.labels, files.train.labels)
    assert memory.input_shape == files.input_shape == (3, 12, 12)


def test_the_normalisation_is_chosen_by_name(write_images: Write, tmp_path: Path) -> None:
    write_images(tmp_path / "images", {"a": 10, "b": 10})

    assert load(tmp_path).mean == (0.485, 0.456, 0.406)
    assert load(tmp_path, normalisation="symmetric").std == (0.5, 0.5, 0.5)
