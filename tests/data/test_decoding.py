from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import decoding
from setsweep.data.batches import PixelScale, normalise
from setsweep.data.decoding import Wanted, decode_all, decode_batches
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles, as_names


@pytest.fixture
def files(write_images: Callable[..., None], tmp_path: Path) -> ImageFiles:
    write_images(tmp_path, {"a": 23})
    return ImageFiles(str(tmp_path), as_names(f"a/{number:03d}.jpg" for number in range(23)), 12)


WANTED: list[Wanted] = [
    Wanted([3, 1, 4], [(0, 1), (2, 3), (4, 5)], [True, False, True]),
    Wanted([22, 0], None, [False, True]),
    Wanted([5], [(7, 7)]),
    Wanted([*range(10)], [(number, 2 * number) for number in range(10)]),
]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batches_are_the_images_wanted_whatever_the_number_of_threads(files: ImageFiles, threads: int) -> None:
    batches = list(decode_batches(files, WANTED, size=10, padding=2, threads=threads))

    assert len(batches) == len(WANTED)
    for batch, wanted in zip(batches, WANTED, strict=True):
        assert torch.equal(batch, one_by_one(files, wanted))


def one_by_one(files: ImageFiles, wanted: Wanted) -> torch.Tensor:
    """A batch as it is said to be, (batch, 3, 10, 10) uint8."""
    nothing: list[Any] = [None] * len(wanted)
    rows = zip(wanted.indices, wanted.places or nothing, wanted.flips or nothing, strict=True)
    read = [(torch.tensor(files.read(index, size=10, place=place, padding=2)), flip) for index, place, flip in rows]
    return torch.stack([image.flip(-1) if flip else image for image, flip in read])


@pytest.mark.parametrize(("mean", "std"), [(None, None), ((0.1, 0.5, 0.3), (0.2, 0.3, 0.7))])
def test_windows_normalised_where_they_are_decoded_are_to_the_bit_those_normalised_later(
    files: ImageFiles, mean: Any, std: Any
) -> None:
    batches = decode_batches(files, WANTED, size=10, padding=2, threads=2, scale=PixelScale(mean, std))

    for batch, wanted in zip(batches, WANTED, strict=True):
        assert torch.equal(batch, normalise(one_by_one(files, wanted), mean, std))


def test_only_a_few_batches_are_decoded_ahead(files: ImageFiles) -> None:
    begun = []

    def wanted() -> Iterator[Wanted]:
        for number in range(23):
            begun.append(number)
            yield Wanted([number])

    batches = decode_batches(files, wanted(), size=10, threads=2)
    next(batches)

    assert len(begun) == 5  # the one that came, and four ahead: two images for each of two threads
    batches.close()


def test_giving_up_in_the_middle_ends_the_threads(files: ImageFiles) -> None:
    batches = decode_batches(files, WANTED, size=10, threads=3)
    next(batches)

    batches.close()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("decode")]


def test_an_image_that_can_not_be_read_stops_its_batch_by_name(files: ImageFiles) -> None:
    files.path(4).write_bytes(b"no picture")

    batches = decode_batches(files, [Wanted([0, 1]), Wanted([4, 5])], size=10, threads=2)

    assert next(batches).shape == (2, 3, 10, 10)
    with pytest.raises(DataError, match=r"004\.jpg' must be readable"):
        next(batches)


def test_all_images_at_once_are_their_middles(files: ImageFiles) -> None:
    images = decode_all(files)

    assert images.shape == (23, 3, 12, 12)
    assert torch.equal(images[7], torch.tensor(files.read(7, size=12)))


def test_more_images_than_memory_are_refused(files: ImageFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding.os, "sysconf", lambda name: 1)

    with pytest.raises(DataError, match=r"store: memory must fit into .*, got 0\.0 GiB\. Set store: files\."):
        decode_all(files)


def test_decoding_all_images_ends_at_the_first_that_can_not_be_read(
    files: ImageFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.path(0).write_bytes(b"no picture")
    read, begun = ImageFiles.read, []

    def counted(self: ImageFiles, index: int, **options: Any) -> Any:
        begun.append(index)
        time.sleep(0.01 * (index > 0))
        return read(self, index, **options)

    monkeypatch.setattr(ImageFiles, "read", counted)
    monkeypatch.setattr(decoding.os, "cpu_count", lambda: 2)

    with pytest.raises(DataError, match=r"000\.jpg' must be readable"):
        decode_all(files)

    assert len(begun) < len(files)
