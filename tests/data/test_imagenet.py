from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from setsweep.data import load_base
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles
from setsweep.data.imagenet import FOLDERS


def test_classes_are_the_wordnet_ids_in_their_order(imagenet: Dataset) -> None:
    assert imagenet.num_classes == 1000
    assert imagenet.class_names[:2] == ("n01440764", "n01440775")
    assert imagenet.superclasses is None
    assert imagenet.input_shape == (3, 224, 224)


def test_the_official_validation_is_the_test_and_validation_is_held_out_of_training(imagenet: Dataset) -> None:
    parts = {}
    for name in ("train", "val", "test"):
        files = getattr(imagenet, name).inputs
        assert isinstance(files, ImageFiles)
        parts[name] = [files.path(index).parts[-3:] for index in range(len(files))]

    assert {part for part, _, _ in parts["test"]} == {"val"}
    assert {part for part, _, _ in parts["train"] + parts["val"]} == {"train"}
    assert set(parts["train"]).isdisjoint(parts["val"])
    assert [len(each) for each in parts.values()] == [1000, 1000, 1000]  # of two training images each, one is held out
    assert imagenet.val.labels.tolist() == list(range(1000))


def test_what_is_held_out_hangs_on_the_seed(imagenet: Dataset, imagenet_root: Path) -> None:
    def held(seed: int) -> list[str]:
        dataset = load_base({"name": "imagenet", "val_per_class": 1, "split_seed": seed}, root=imagenet_root)
        assert isinstance(dataset.val.inputs, ImageFiles)
        return [dataset.val.inputs.path(index).name for index in range(1000)]

    first, other = held(0), held(1)

    assert first == held(0)
    assert first != other  # 1,000 fair coins falling alike twice: false alarm 1e-301
    assert abs(first.count("0.JPEG") - 500) < 80  # 5 deviations of a fair coin: false alarm 6e-7


def test_a_class_with_nothing_left_to_train_on_is_named(imagenet_root: Path) -> None:
    with pytest.raises(DataError, match=r"more than val_per_class = 2 training .*no more of n01440764, .* 990 more\."):
        load_base({"name": "imagenet", "val_per_class": 2}, root=imagenet_root)


def test_other_classes_than_the_1000_are_refused(tmp_path: Path) -> None:
    for part in ("train", "val"):
        (tmp_path / FOLDERS[1] / part / "n01440764").mkdir(parents=True)

    with pytest.raises(DataError, match=r"train and val of .* must have 1000 class folders, got 1: n01440764\."):
        load_base({"name": "imagenet"}, root=tmp_path)


def test_missing_folders_are_said_with_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"imagenet must hold train and val .*, found none\. Fetch .*//image-net\.org"):
        load_base({"name": "imagenet"}, root=tmp_path)


def test_both_names_of_the_folder_are_found(imagenet_root: Path, tmp_path: Path) -> None:
    (tmp_path / FOLDERS[1]).symlink_to(imagenet_root / FOLDERS[0])

    dataset = load_base({"name": "imagenet", "val_per_class": 1}, root=tmp_path)

    assert torch.equal(dataset.test.labels, torch.arange(1000))


def test_an_image_in_the_wrong_format_is_said(imagenet_root: Path, tmp_path: Path) -> None:
    folder = tmp_path / FOLDERS[0]
    shutil.copytree(imagenet_root / FOLDERS[0], folder)
    (folder / "val" / "n01440764" / "0.JPEG").write_text("not an image")

    with pytest.raises(DataError, match=r"must be readable, got 1 of 3000 that are not: val/n01440764/0\.JPEG"):
        load_base({"name": "imagenet", "val_per_class": 1}, root=tmp_path)
