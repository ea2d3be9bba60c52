"""Real data files for the tests that need them, each data set decoded once a session; and folders of small images."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import setsweep.data.imagenet
import setsweep.data.imagenet_lt
from setsweep.data import DATASETS, image_decoder, load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.data.plantnet300k import FOLDERS, LISTS

WORDNET_IDS = [f"n{1_440_764 + 11 * number:08d}" for number in range(1000)]
SPECIES = {str(1_355_868 + 7 * number): f"Genus{number // 4:03d} species{number} L." for number in range(1081)}


@pytest.fixture(scope="session")
def cifar100() -> Dataset:
    return _base("cifar100")


@pytest.fixture(scope="session")
def cifar100_lt() -> Dataset:
    return _base("cifar100_lt")


@pytest.fixture(scope="session")
def fashion_mnist() -> Dataset:
    return _base("fashion_mnist")


@pytest.fixture(scope="session")
def digits() -> Dataset:
    return load_base({"name": "digits"})


@pytest.fixture(scope="session")
def circle() -> Dataset:
    return load_dataset({"name": "circle"}, seed=0)


@pytest.fixture(scope="session")
def image_folder(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Three classes of 12 images in a folder without splits."""
    root = tmp_path_factory.mktemp("image_folder")
    _write_images(root / "images", dict.fromkeys(("ash", "beech", "cedar"), 12))
    return load_base({"name": "image_folder"}, root=root)


@pytest.fixture(scope="session")
def plantnet300k(plantnet_root: Path) -> Dataset:
    return load_base({"name": "plantnet300k"}, root=plantnet_root)


@pytest.fixture(scope="session")
def plantnet_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of Pl@ntNet-300K for made-up species, with the same small image in each."""
    root = tmp_path_factory.mktemp("plantnet")
    folder = root / FOLDERS[0]
    file = io.BytesIO()
    _photo(9, 7).save(file, "JPEG")
    for split in ("train", "val", "test"):
        for species in SPECIES:
            (folder / "images" / split / species).mkdir(parents=True)
            (folder / "images" / split / species / "0.jpg").write_bytes(file.getvalue())
    (folder / LISTS[0]).write_text(json.dumps(SPECIES))
    return root


@pytest.fixture(scope="session")
def imagenet(imagenet_root: Path) -> Dataset:
    return load_base({"name": "imagenet", "val_per_class": 1}, root=imagenet_root)


@pytest.fixture(scope="session")
def imagenet_lt(imagenet_root: Path) -> Dataset:
    return load_base({"name": "imagenet_lt"}, root=imagenet_root)


@pytest.fixture(scope="session")
def imagenet_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of ImageNet with the same small image twice for training and once for test in each of 1,000 classes,
    and lists of ImageNet-LT that train on the first and validate on the second.
    """
    root = tmp_path_factory.mktemp("imagenet")
    file = io.BytesIO()
    _photo(9, 7).save(file, "JPEG")
    images = {"train": ("train", "0.JPEG"), "val": ("train", "1.JPEG"), "test": ("val", "0.JPEG")}
    lists: dict[str, list[str]] = {split: [] for split in images}
    for index, name in enumerate(WORDNET_IDS):
        for split, (part, image) in images.items():
            path = root / setsweep.data.imagenet.FOLDERS[0] / part / name / image
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.getvalue())
            lists[split].append(f"{part}/{name}/{image} {index}\n")
    folder = root / setsweep.data.imagenet_lt.FOLDERS[0]
    folder.mkdir()
    for split, lines in lists.items():
        (folder / setsweep.data.imagenet_lt.LISTS[split]).write_text("".join(lines))
    return root


@pytest.fixture(scope="session", params=sorted(DATASETS))
def dataset_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def every_dataset(request: pytest.FixtureRequest, dataset_name: str) -> Dataset:
    """One data set after the other, with its default settings."""
    dataset: Dataset = request.getfixturevalue(dataset_name)
    return dataset


@pytest.fixture(params=["Pillow", "torchcodec"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One decoder of image files after the other, where it is installed."""
    name: str = request.param
    if name == "Pillow":
        monkeypatch.setattr(image_decoder, "torchcodec_jpeg", lambda: None)
    else:
        pytest.importorskip("torchcodec.decoders")
        assert image_decoder.torchcodec_jpeg() is not None
    return name


@pytest.fixture(scope="session")
def photo() -> Callable[..., Image.Image]:
    """Makes pictures: ``photo(width, height, seed=0)``."""
    return _photo


@pytest.fixture(scope="session")
def write_images() -> Callable[..., None]:
    """Fills class folders: ``write_images(folder, {"ash": 3}, width=20, height=16)``, no two images alike."""
    return _write_images


def _photo(width: int, height: int, *, seed: int = 0) -> Image.Image:
    """A smooth picture with some noise, as photographs are."""
    chance = np.random.default_rng(seed)
    coarse = Image.fromarray(chance.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    noise = chance.normal(0, 5, (height, width, 3))
    pixels = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)) + noise
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def _write_images(folder: Path, counts: Mapping[str, int], *, width: int = 20, height: int = 16) -> None:
    numbers = itertools.count()
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            _photo(width, height, seed=next(numbers)).save(folder / name / f"{number:03d}.jpg", quality=90)


def _base(name: str) -> Dataset:
    try:
        return load_base({"name": name})
    except DataError as error:
        if "found none" not in str(error):
            raise
        pytest.skip(f"needs the files of {name}: set SETSWEEP_DATA to the folder that holds them")
