"""``setsweep init``: a folder of images becomes a study that can be run as it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from setsweep.data.files import DataError
from setsweep.sweeps.study.own_images import look_at, study_name, study_text
from setsweep.sweeps.study.reader import read_study

Photos = Callable[..., Path]


@pytest.fixture
def photos(tmp_path: Path) -> Photos:
    """Calls make a folder with so many images in each class, of one colour a class with some noise."""

    def make(
        counts: dict[str, int], *, size: tuple[int, int] = (12, 10), name: str = "my photos", part: str = ""
    ) -> Path:
        draw = random.Random(0)
        for number, (label, count) in enumerate(counts.items()):
            folder = tmp_path / name / part / label
            folder.mkdir(parents=True)
            for index in range(count):
                colour = tuple(min(255, 40 * number + draw.randrange(40) + 20 * channel) for channel in range(3))
                Image.new("RGB", size, colour).save(folder / f"{index}.png")
        return tmp_path / name

    return make


def _study(images: Path, *, gpu: bool = False) -> Any:
    text = study_text(look_at(images), study_name(images), gpu=gpu)
    images.with_name("written.yaml").write_text(text)
    return read_study(images.with_name("written.yaml"))


def test_a_folder_of_photos_becomes_a_study_that_checks_and_runs(setsweep: Any, photos: Photos) -> None:
    photos({"cats": 20, "dogs": 20, "fish": 20})
    said = setsweep("init", "my photos/")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("my-photos.yaml: 60 images of 3 classes, 3 losses, 15 runs.\n")
    assert "my-photos: nothing is wrong. 15 runs of 3 arms." in setsweep("check", "my-photos.yaml").out
    short = ("--set", "training.epochs=2", "--set", "confirm.seeds=2")
    ran = setsweep("run", "my-photos.yaml", "--in-process", *short)
    assert ran.code == 0, ran.err
    assert "Complete. 6 runs: 6 done." in ran.out


def test_the_study_says_what_the_folder_holds(photos: Photos) -> None:
    """Of 20 images of a class 4 are the test, then a tenth of the other 16 (1.6, so 1 or 2) the validation."""
    images = look_at(photos({"cats": 20, "dogs": 20, "fish": 20}))
    assert (images.classes, images.sides[0], images.held_out) == (3, 10, ("val", "test"))
    assert (sum(images.splits), images.splits[2]) == (60, 12)
    text = study_text(images, "pets", gpu=False)
    train, val, test = images.splits
    assert f"# 60 images: {train} to train on, {val} to validate, {test} to test.\n" in text
    assert "# Shorter sides of images are 10 pixels.\n" in text
    assert f'folder: "{images.folder}"' in text


def test_small_images_keep_their_size_and_large_ones_become_small(photos: Photos) -> None:
    small = _study(photos({"a": 9, "b": 9}, size=(33, 28), name="small"))
    large = _study(photos({"a": 9, "b": 9}, size=(300, 400), name="large"))
    assert (small.data["resize"], small.data["crop"]) == (28, 28)
    assert (large.data["resize"], large.data["crop"], large.data["store"]) == (72, 64, "memory")


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (3, 2), (11, 3), (51, 5)])
def test_sets_are_smaller_than_the_classes_are_many(photos: Photos, classes: int, k: int) -> None:
    assert _study(photos({f"class{number}": 3 for number in range(classes)})).k == (k,)


def test_folders_for_each_split_are_taken_as_they_are(photos: Photos) -> None:
    for part, count in (("train", 8), ("val", 3), ("test", 4)):
        photos({"a": count, "b": count}, part=part)
    images = look_at(photos({}))
    assert (images.splits, images.held_out) == ((16, 6, 8), ())
    assert "there is no folder" not in study_text(images, "x", gpu=False)


def test_unbalanced_classes_get_a_loss_for_them(photos: Photos) -> None:
    assert "logit_adjustment" in _study(photos({"a": 90, "b": 5}, name="unbalanced")).arms
    assert "logit_adjustment" not in _study(photos({"a": 30, "b": 9}, name="balanced")).arms


def test_with_a_gpu_the_study_asks_for_one(photos: Photos) -> None:
    study = _study(photos({"a": 9, "b": 9}), gpu=True)
    assert (study.model["name"], study.resources.gpus) == ("resnet18", "auto")


def test_images_that_can_not_be_read_are_left_out(photos: Photos) -> None:
    folder = photos({"a": 9, "b": 9})
    (folder / "a" / "broken.png").write_bytes(b"no image")
    images = look_at(folder)
    assert (images.unreadable, sum(images.splits)) == (True, 18)
    assert _study(folder).data["unreadable"] == "skip"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("photos", "photos"), ("Fotos 2024!", "Fotos-2024"), ("äöü", "my-images"), ("a" * 120, "a" * 100)],
)
def test_a_study_has_the_folders_name_as_far_as_it_may(name: str, expected: str) -> None:
    assert study_name(Path("somewhere") / name) == expected


def test_what_is_no_folder_of_images_is_refused_and_no_file_overwritten(
    setsweep: Any, photos: Photos, folder: Path
) -> None:
    with pytest.raises(DataError, match=r"must be a folder of images, got .*nowhere"):
        look_at(Path("nowhere"))
    (folder / "empty").mkdir()
    for wrong in ("nowhere", "empty"):
        said = setsweep("init", wrong)
        assert (said.code, (folder / f"{wrong}.yaml").exists()) == (2, False)
    photos({"a": 9, "b": 9})
    (folder / "my-photos.yaml").write_text("mine")
    refused = setsweep("init", "my photos")
    assert refused.code == 2
    assert "--out must be a new file, got 'my-photos.yaml', which is there." in refused.err
    assert (folder / "my-photos.yaml").read_text() == "mine"
