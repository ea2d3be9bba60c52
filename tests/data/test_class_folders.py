"""Folders of classes: which files count, in which order, and what splits must have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from setsweep.data.class_folders import common_classes, find_images, some
from setsweep.data.files import DataError


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_images_are_found_at_any_depth_in_the_order_of_their_paths(tmp_path: Path) -> None:
    _touch(tmp_path, "b/2.png", "b/1.JPG", "a/deep/er/3.jpeg", "a/notes.txt")
    assert find_images(tmp_path) == {"a": ["a/deep/er/3.jpeg"], "b": ["b/1.JPG", "b/2.png"]}
    assert list(find_images(tmp_path)) == ["a", "b"]


def test_paths_are_given_from_the_folder_whatever_part_is_searched(tmp_path: Path) -> None:
    _touch(tmp_path, "train/a/1.png", "val/a/2.png")
    assert find_images(tmp_path, "val") == {"a": ["val/a/2.png"]}


def test_hidden_files_and_folders_do_not_count(tmp_path: Path) -> None:
    _touch(tmp_path, "a/1.png", "a/.1.png", "a/.thumbnails/1.png", ".git/1.png")
    assert find_images(tmp_path) == {"a": ["a/1.png"]}


def test_links_to_folders_are_followed(tmp_path: Path) -> None:
    _touch(tmp_path / "elsewhere", "1.png")
    (tmp_path / "images" / "a").mkdir(parents=True)
    (tmp_path / "images" / "a" / "link").symlink_to(tmp_path / "elsewhere")
    assert find_images(tmp_path / "images") == {"a": ["a/link/1.png"]}


def test_a_class_without_an_image_is_still_a_class(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _touch(tmp_path, "full/1.png")
    assert find_images(tmp_path) == {"empty": [], "full": ["full/1.png"]}


def test_a_folder_without_class_folders_is_refused(tmp_path: Path) -> None:
    _touch(tmp_path, "1.png")
    with pytest.raises(DataError, match="must hold one folder a class, found none"):
        find_images(tmp_path)


def test_splits_with_the_same_classes_have_them_in_order() -> None:
    assert common_classes({"train": {"b": [], "a": []}, "val": {"a": [], "b": []}}) == ("a", "b")


def test_each_split_that_lacks_a_class_is_named() -> None:
    splits: dict[str, dict[str, list[str]]] = {"train": {"a": [], "b": []}, "val": {"a": []}, "test": {"b": []}}
    with pytest.raises(DataError, match=r"same in train, val, test, got val without b; test without a\.$"):
        common_classes(splits)


def test_a_message_names_ten_and_counts_the_others() -> None:
    names = [f"n{number}" for number in range(12)]
    assert some(names) == "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more"
    assert some(names[:10]).endswith("n9")
