from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from setsweep.data import load_base
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles
from setsweep.data.imagenet import FOLDERS as IMAGENET_FOLDERS
from setsweep.data.imagenet_lt import FOLDERS, LISTS, read_list

Rewrite = Callable[[str, Callable[[list[str]], list[str]]], Path]


@pytest.fixture
def rewrite(imagenet_root: Path, tmp_path: Path) -> Rewrite:
    """Makes a data root with one list changed: ``rewrite(split, change)``, `change` taking its lines."""

    def make(split: str, change: Callable[[list[str]], list[str]]) -> Path:
        (tmp_path / IMAGENET_FOLDERS[0]).symlink_to(imagenet_root / IMAGENET_FOLDERS[0])
        (tmp_path / FOLDERS[1]).mkdir()
        for each, name in LISTS.items():
            lines = (imagenet_root / FOLDERS[0] / name).read_text().splitlines()
            lines = change(lines) if each == split else lines
            (tmp_path / FOLDERS[1] / name).write_text("\n".join(lines))
        return tmp_path

    return make


def load(root: Path) -> Dataset:
    return load_base({"name": "imagenet_lt"}, root=root)


def test_the_splits_are_those_of_the_lists(imagenet_lt: Dataset) -> None:
    for split, name in (("train", "0.JPEG"), ("val", "1.JPEG"), ("test", "0.JPEG")):
        part = getattr(imagenet_lt, split)
        assert isinstance(part.inputs, ImageFiles)
        assert part.inputs.path(7).parts[-2:] == (imagenet_lt.class_names[7], name)
        assert part.labels.tolist() == list(range(1000))
    assert imagenet_lt.class_names[:2] == ("n01440764", "n01440775")


def test_an_image_belongs_to_the_index_beside_it_in_whatever_order_the_lines_are(rewrite: Rewrite) -> None:
    def more_of_the_second(lines: list[str]) -> list[str]:
        return [*reversed(lines), "train/n01440775/1.JPEG 1"]

    dataset = load(rewrite("train", more_of_the_second))

    assert dataset.train.labels.tolist() == [0, 1, 1, *range(2, 1000)]
    assert isinstance(dataset.train.inputs, ImageFiles)
    assert dataset.train.inputs.path(2).parts[-2:] == ("n01440775", "1.JPEG")


def test_lists_may_lie_beside_the_images(imagenet_root: Path, tmp_path: Path) -> None:
    folder = tmp_path / IMAGENET_FOLDERS[0]
    folder.mkdir()
    for part in ("train", "val"):
        (folder / part).symlink_to(imagenet_root / IMAGENET_FOLDERS[0] / part)
    for name in LISTS.values():
        (folder / name).symlink_to(imagenet_root / FOLDERS[0] / name)

    assert len(load(tmp_path).train) == 1000


@pytest.mark.parametrize(
    ("split", "change", "message"),
    [
        ("train", lambda lines: lines[:-1], r"train\.txt' must have a folder of its own .*, got 999 pairs"),
        (
            "train",
            lambda lines: [*lines[:-1], "train/n01440764/1.JPEG 999"],
            r"train\.txt' must have a folder of its own",
        ),
        ("val", lambda lines: lines[1:], r"val\.txt' must have the classes of .* list, got others: n01440764:"),
        (
            "test",
            lambda lines: [*lines, "val/n01440764/1.JPEG 0"],
            r"test\.txt' must have equally many .* 1 to 2:",
        ),
        ("val", lambda lines: [*lines, lines[0]], r"val\.txt' must have a new path .* in each line, got line 1001: "),
        ("test", lambda lines: ["val/n01440764/0.JPEG", *lines[1:]], r"test\.txt' must have a new path .* line 1: "),
    ],
)
def test_a_list_that_lacks_something_is_damaged(
    rewrite: Rewrite, split: str, change: Callable[[list[str]], list[str]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(rewrite(split, change))


def test_an_image_that_a_list_names_and_that_is_not_there_is_named(rewrite: Rewrite) -> None:
    root = rewrite("train", lambda lines: ["train/n01440764/9.JPEG 0", *lines[1:]])

    with pytest.raises(DataError, match=r"must be readable, got 1 of 3000 that are not: train/n01440764/9\.JPEG \("):
        load(root)


def test_missing_lists_are_said_with_where_to_get_them(imagenet_root: Path, tmp_path: Path) -> None:
    (tmp_path / IMAGENET_FOLDERS[0]).symlink_to(imagenet_root / IMAGENET_FOLDERS[0])

    with pytest.raises(DataError, match=r"imagenet_lt/ImageNet_LT_train\.txt' must exist, found none\. Fetch .*github"):
        load(tmp_path)


def test_a_line_is_a_path_and_an_index(tmp_path: Path) -> None:
    path = tmp_path / LISTS["train"]
    path.write_text("train/n01440764/n01440764_190.JPEG 0\r\ntrain/n01440767/a b.JPEG 1\r\n")

    assert read_list(path) == {"train/n01440764/n01440764_190.JPEG": 0, "train/n01440767/a b.JPEG": 1}
