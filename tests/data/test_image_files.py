from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles, as_names, unreadable_images

Photo = Callable[..., Image.Image]
pytestmark = pytest.mark.usefixtures("decoder")


def files(folder: Path, *names: str, resize: int = 32) -> ImageFiles:
    return ImageFiles(str(folder), as_names(names), resize)


def theirs(image: Image.Image, resize: int, top: int, left: int, size: int) -> np.ndarray[Any, Any]:
    """What torchvision makes of the image: scaled whole, then cropped."""
    from torchvision.transforms.functional import crop
    from torchvision.transforms.functional import resize as scaled

    whole = crop(scaled(image.convert("RGB"), [resize]), top, left, size, size)
    return np.asarray(whole).astype(int).transpose(2, 0, 1)


@pytest.mark.parametrize(("width", "height"), [(50, 40), (40, 50), (32, 32), (90, 41), (20, 31)])
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_windows_are_torchvisions(
    photo: Photo, tmp_path: Path, width: int, height: int, padding: int, ending: str
) -> None:
    photo(width, height).save(tmp_path / f"a.{ending}")
    image = Image.open(tmp_path / f"a.{ending}")
    image.load()
    long = int(32 * max(width, height) / min(width, height))
    rows, columns = (long, 32) if height > width else (32, long)

    for place in ((0, 0), (5, 11), (3**30, 5**25)):
        ours = files(tmp_path, f"a.{ending}").read(0, size=28, place=place, padding=padding)

        top, left = (
            number % (have + 2 * padding - 28 + 1) - padding
            for number, have in zip(place, (rows, columns), strict=True)
        )
        assert np.abs(ours - theirs(image, 32, top, left, 28)).max() <= 2


@pytest.mark.parametrize(("width", "height"), [(50, 40), (40, 51), (90, 41)])
def test_the_window_in_the_middle_is_torchvisions(photo: Photo, tmp_path: Path, width: int, height: int) -> None:
    from torchvision.transforms import CenterCrop, Compose, Resize

    image = photo(width, height)
    image.save(tmp_path / "a.png")

    ours = files(tmp_path, "a.png").read(0, size=27)

    expected = np.asarray(Compose([Resize(32), CenterCrop(27)])(image)).astype(int).transpose(2, 0, 1)
    assert np.abs(ours - expected).max() <= 1


def test_photographs_that_are_decoded_at_a_fraction_of_their_size_come_out_almost_the_same() -> None:
    package = importlib.util.find_spec("sklearn")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "datasets" / "images"

    for name in ("china.jpg", "flower.jpg"):  # 640 x 427: for 64 pixels they are decoded at half their size, 320 x 214
        ours = files(folder, name, resize=64).read(0, size=64, place=(0, 20))

        with Image.open(folder / name) as image:
            difference = np.abs(ours - theirs(image, 64, 0, 20, 64))
        # grey levels of 255, measured: 1.3 and 0.7 on average, 16 and 29 at most
        assert 0 < difference.mean() < 1.5
        assert difference.max() < 35


@pytest.mark.parametrize(
    ("mode", "ending"), [("L", "jpg"), ("CMYK", "jpg"), ("RGBA", "png"), ("P", "png"), ("1", "png"), ("RGB", "webp")]
)
def test_every_kind_of_picture_becomes_rgb(photo: Photo, tmp_path: Path, mode: str, ending: str) -> None:
    photo(40, 36).convert(mode).save(tmp_path / f"a.{ending}")

    pixels = files(tmp_path, f"a.{ending}").read(0, size=32)

    assert (pixels.shape, pixels.dtype) == ((3, 32, 32), np.uint8)


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_gray_levels_of_16_bits_are_scaled_to_8(tmp_path: Path, ending: str) -> None:
    levels = np.arange(32 * 32, dtype=np.uint16).reshape(32, 32) * 64
    Image.fromarray(levels).save(tmp_path / f"a.{ending}")

    pixels = files(tmp_path, f"a.{ending}").read(0, size=32)

    assert np.array_equal(pixels, np.broadcast_to(levels // 256, (3, 32, 32)))


@pytest.mark.parametrize("ending", ["png", "jpg"])
@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_an_orientation_noted_in_the_file_is_not_looked_at(
    photo: Photo, tmp_path: Path, ending: str, orientation: int
) -> None:
    photo(40, 36).save(tmp_path / f"plain.{ending}")
    noted = Image.Exif()
    noted[0x0112] = orientation  # 3: turned by 180 degrees, 6: by 90
    photo(40, 36).save(tmp_path / f"turned.{ending}", exif=noted)

    plain, turned = (files(tmp_path, f"{name}.{ending}").read(0, size=32) for name in ("plain", "turned"))

    assert np.abs(plain.astype(int) - turned).max() <= 2


def test_names_are_any_that_the_file_system_has(photo: Photo, tmp_path: Path) -> None:
    names = ["Linné é.png", "a b.png", "花.png"]
    for name in names:
        photo(40, 36).save(tmp_path / name)

    images = files(tmp_path, *names)

    assert [images.path(index).name for index in range(3)] == names
    assert images.read(2, size=8).shape == (3, 8, 8)


def test_a_subset_has_the_images_asked_for(tmp_path: Path) -> None:
    part = files(tmp_path, "a", "b", "c", "d").subset(torch.tensor([3, 1]))

    assert [part.path(index).name for index in range(len(part))] == ["d", "b"]


def test_files_survive_pickling(tmp_path: Path) -> None:
    copy = pickle.loads(pickle.dumps(files(tmp_path, "a", "bc")))

    assert copy.path(1) == tmp_path / "bc"


def test_unreadable_images_are_found_with_their_reasons(photo: Photo, tmp_path: Path) -> None:
    for name in ("whole.jpg", "cut.jpg", "whole.png", "cut.png", "whole.webp", "cut.webp", "trailing.jpg"):
        photo(60, 50).save(tmp_path / name)
    for name in ("cut.jpg", "cut.png", "cut.webp"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    with (tmp_path / "trailing.jpg").open("ab") as file:
        file.write(b"\0" * 10)  # some cameras do; it is whole
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("no picture")
    names = sorted(path.name for path in tmp_path.iterdir())

    reasons = unreadable_images(files(tmp_path, *names, "missing.jpg"))

    broken = {[*names, "missing.jpg"][index]: reason for index, reason in reasons.items()}
    assert sorted(broken) == ["cut.jpg", "cut.png", "cut.webp", "empty.jpg", "missing.jpg", "text.jpg"]
    assert "cannot identify image file" in broken["text.jpg"]
    assert "truncated" in broken["cut.jpg"]


def test_reading_a_damaged_image_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("no picture")

    with pytest.raises(DataError, match=r"Image .*a\.jpg' must be readable, got: cannot identify .* Mend it, or"):
        files(tmp_path, "a.jpg").read(0, size=8)
