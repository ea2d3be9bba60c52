"""The one place where a file becomes pixels: torchcodec where it is installed and fits the file, else Pillow.

torchcodec (0.16 and later, whose images need no FFmpeg; torchvision's decoders are deprecated in favour of it) decodes
JPEG files that are wanted at their full size, gray or in RGB, and that note no other orientation: it turns an image as
its file says, which is not done here. Its pixels are Pillow's to the bit, since both ask libjpeg-turbo, but they come
as a tensor, which torch scales in half of Pillow's time and rounds otherwise: by at most 2 of 255 grey levels.
Everything else is Pillow's: other formats and colours, JPEG files decoded at a fraction of their size, and the verdict
whether a damaged file can be read. On CUDA torchcodec has nvJPEG, which has not been measured and isn't used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from PIL.Image import Image

Size = tuple[int, int]

_DRAFT_GAP = 3  # a JPEG is decoded at no less than this times the size wanted
_ORIENTATION, _UPRIGHT = 0x0112, 1  # the Exif field, and what it is for an image that is not turned


def decode_image(path: Path, *, shorter: int) -> tuple[Image | Tensor, Size]:
    """An image in RGB, at its full size or, for a large JPEG, at a fraction of it.

    Args:
        path: of the file.
        shorter: what its shorter side will be scaled to, in pixels: a JPEG file whose sides are 6 or more times what is
            wanted is decoded at 1/2, 1/4 or 1/8 of its size, to never less than 3 times the size wanted.

    Returns:
        The image, not yet scaled: Pillow's, or (3, height, width) uint8; and the width and height to scale it to.

    Raises:
        OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError: the file is missing or damaged.
    """
    from PIL import Image

    with Image.open(path) as image:
        full = image.size
        scaled = _scaled_size(full, shorter)
        image.draft("RGB", (_DRAFT_GAP * scaled[0], _DRAFT_GAP * scaled[1]))
        if image.size == full and (pixels := _by_torchcodec(path, image)) is not None:
            return pixels, scaled
        if image.mode == "RGB":  # which `convert` would copy
            image.load()
            return image, scaled
        return _eight_bits(image).convert("RGB"), scaled


def _scaled_size(size: Size, shorter: int) -> Size:
    """Width and height of an image scaled to a shorter side, as torchvision rounds them."""
    width, height = size
    return (shorter, int(shorter * height / width)) if width <= height else (int(shorter * width / height), shorter)


def image_decoder() -> str:
    """What decodes image files in this process, with its version."""
    name = "Pillow" if torchcodec_jpeg() is None else "torchcodec"
    return f"{name} {version(name)}"


@cache
def torchcodec_jpeg() -> Callable[[Tensor], Tensor] | None:
    """The decoder of JPEG files, from bytes to (3, height, width); None where there is none or not for this torch."""
    try:
        decoder: Callable[[Tensor], Tensor] = import_module("torchcodec.decoders").decode_jpeg
    except (ImportError, AttributeError, OSError, RuntimeError):  # none, an old one, one that can't be loaded
        return None
    return decoder


def _by_torchcodec(path: Path, image: Image) -> Tensor | None:
    """What torchcodec makes of a file that Pillow has opened; None where Pillow is to decode it."""
    decoder = torchcodec_jpeg()
    if decoder is None or image.format != "JPEG" or image.mode not in ("RGB", "L"):
        return None
    if image.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT:
        return None
    try:
        return decoder(torch.from_numpy(np.fromfile(path, dtype=np.uint8)))
    except RuntimeError:  # a damaged file
        return None


def _eight_bits(image: Image) -> Image:
    """The image, its gray levels scaled from 16 bits to 8 if they have so many."""
    from PIL.Image import fromarray

    return fromarray((np.asarray(image) >> 8).astype(np.uint8)) if image.mode.startswith("I;16") else image
