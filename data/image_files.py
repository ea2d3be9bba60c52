"""Images that stay files until they are needed: read, scaled and cropped one by one.

What an image becomes is what torchvision's `Resize(resize)` and a crop make of it with PIL, apart from two shortcuts:

- Pillow computes the window alone: equal to within 1 of 255 grey levels; or torch scales what torchcodec decodes: 2.
- A JPEG file whose sides are 6 or more times what is wanted is decoded at a fraction of its size (PIL's `draft`), to
  never less than 3 times the size wanted. Measured: 0.1 to 1.2 of 255 grey levels away on average, and 4 times
  faster for 10 megapixels. (With 2 times, it would be up to 1.9 grey levels, and 6 times faster.)

As in torchvision, an orientation noted in the file is not looked at, and everything becomes RGB. Unlike there, gray
levels of 16 bits are scaled to 8, which PIL would cut off at 255: almost every pixel would be white.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from setsweep.data.files import DataError
from setsweep.data.image_decoder import decode_image
from setsweep.data.image_windows import Pixels, Place, cut_window

Bytes = np.ndarray[Any, np.dtype[np.bytes_]]

_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND\xaeB`\x82"}  # the last bytes of a whole file


@dataclass(frozen=True)
class ImageFiles:
    """The images of a split as files in one folder, which must be there on every machine that trains.

    Args:
        folder: they are in.
        names: (n,) their paths below it, as bytes of the file system's encoding: one array, so that the processes of a
            machine share it.
        resize: the shorter side is scaled to this many pixels before the crop.
    """

    folder: str
    names: Bytes
    resize: int

    def __len__(self) -> int:
        return len(self.names)

    def path(self, index: int) -> Path:
        """Where an image is."""
        return Path(self.folder, os.fsdecode(self.names[index].item()))

    def subset(self, indices: Tensor) -> ImageFiles:
        """Some of the images, in this order."""
        return ImageFiles(self.folder, self.names[indices.numpy()], self.resize)

    def read(self, index: int, *, size: int, place: Place | None = None, padding: int = 0) -> Pixels:
        """A square window of an image.

        Args:
            index: which image.
            size: side of the window.
            place: two whole numbers which, modulo the number of choices, say where the window lies (row, column);
                None: in the middle.
            padding: pixels of black border around the scaled image, in which the window may lie.

        Returns:
            (3, size, size) uint8.

        Raises:
            DataError: the file is missing or damaged.
        """
        from PIL.Image import DecompressionBombError

        path = self.path(index)
        try:
            image, scaled = decode_image(path, shorter=self.resize)
        except (OSError, SyntaxError, ValueError, DecompressionBombError) as error:
            raise DataError(f"Image {str(path)!r} must be readable, got: {error}. Mend it, or remove it.") from error
        return cut_window(image, scaled, size=size, place=place, padding=padding)


def unreadable_images(files: ImageFiles) -> dict[int, str]:
    """The images that can't be read, and why.

    Only the beginning and the end of a file are looked at where its format (JPEG, PNG) ends in a mark. Without the
    mark, and for other formats, it is decoded.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reasons = pool.map(_reason, map(files.path, range(len(files))))
        return {index: reason for index, reason in enumerate(reasons) if reason is not None}


def _reason(path: Path) -> str | None:
    """Why an image can't be read, None where it can."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            if not _is_whole(path, _ENDS.get(image.format or "")):
                image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return str(error)
    return None


def _is_whole(path: Path, end: bytes | None) -> bool:
    if end is None:
        return False
    with path.open("rb") as file:
        file.seek(-min(len(end), path.stat().st_size), os.SEEK_END)
        return file.read() == end


def as_names(paths: Iterable[str]) -> Bytes:
    """Relative paths in the form in which `ImageFiles` holds them."""
    return np.array([os.fsencode(path) for path in paths], dtype=np.bytes_)
