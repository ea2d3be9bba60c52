from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from torch import Tensor

from setsweep.data import image_decoder, load_base
from setsweep.data.image_decoder import decode_image
from setsweep.data.image_files import ImageFiles, as_names

Photo = Callable[..., Image.Image]


@pytest.fixture
def torchcodec() -> None:
    pytest.importorskip("torchcodec.decoders")


@pytest.mark.usefixtures("torchcodec")
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("RGB", {"quality": 90}),
        ("RGB", {"quality": 30, "subsampling": 0}),
        ("RGB", {"quality": 75, "progressive": True}),
        ("L", {"quality": 90}),
    ],
)
def test_torchcodecs_pixels_of_a_jpeg_file_are_pillows(
    photo: Photo, tmp_path: Path, mode: str, options: dict[str, Any]
) -> None:
    path = tmp_path / "a.jpg"
    photo(83, 61).convert(mode).save(path, **options)

    pixels, scaled = decode_image(path, shorter=32)

    assert isinstance(pixels, Tensor)
    assert scaled == (43, 32)  # 32 * 83 / 61 = 43.5
    with Image.open(path) as image:
        assert np.array_equal(pixels.permute(1, 2, 0).numpy(), np.asarray(image.convert("RGB")))


@pytest.mark.usefixtures("torchcodec")
@pytest.mark.parametrize(
    ("name", "mode", "size"),
    [("a.jpg", "CMYK", (83, 61)), ("a.png", "RGB", (83, 61)), ("a.jpg", "RGB", (400, 300))],
    ids=["other colours", "other format", "decoded at half its size"],
)
def test_what_torchcodec_would_do_otherwise_is_pillows(
    photo: Photo, tmp_path: Path, name: str, mode: str, size: tuple[int, int]
) -> None:
    photo(*size).convert(mode).save(tmp_path / name)

    image, _ = decode_image(tmp_path / name, shorter=32)

    assert isinstance(image, Image.Image)


@pytest.mark.usefixtures("torchcodec")
def test_windows_are_the_same_to_within_two_grey_levels_whatever_decodes(
    photo: Photo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo(90, 70).save(tmp_path / "a.jpg")
    files = ImageFiles(str(tmp_path), as_names(["a.jpg"]), 40)
    places = [(row, 3 * row) for row in range(9)]

    by_torchcodec = [files.read(0, size=32, place=place).astype(int) for place in places]
    monkeypatch.setattr(image_decoder, "torchcodec_jpeg", lambda: None)
    by_pillow = [files.read(0, size=32, place=place).astype(int) for place in places]

    assert max(np.abs(a - b).max() for a, b in zip(by_torchcodec, by_pillow, strict=True)) <= 2


@pytest.mark.usefixtures("decoder")
def test_a_damaged_jpeg_file_is_refused_in_the_same_words_whatever_decodes(photo: Photo, tmp_path: Path) -> None:
    photo(60, 50).save(tmp_path / "a.jpg")
    content = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(content[: len(content) // 2])

    with pytest.raises(OSError, match="truncated"):
        decode_image(tmp_path / "a.jpg", shorter=32)


def test_the_decoder_is_named_with_its_version(decoder: str) -> None:
    assert image_decoder.image_decoder() == f"{decoder} {version(decoder)}"


def test_without_torchcodec_pillow_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchcodec.decoders", None)  # its import fails

    assert image_decoder.torchcodec_jpeg.__wrapped__() is None


def test_data_of_image_files_say_what_decodes_or_has_decoded_them(
    write_images: Callable[..., None], tmp_path: Path
) -> None:
    write_images(tmp_path / "images", {"a": 9, "b": 9})
    settings = {"name": "image_folder", "resize": 14, "crop": 12}
    in_memory, in_files = (load_base({**settings, "store": store}, root=tmp_path) for store in ("memory", "files"))

    assert in_memory.decoder == in_memory.decoded_by == in_files.decoded_by == image_decoder.image_decoder()
    assert in_files.decoder is None  # each machine's own
    assert load_base({"name": "digits"}).decoded_by is None
