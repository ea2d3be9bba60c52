"""A square window of an image, scaled: what a model is given of an image file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor
from torch.nn.functional import interpolate, pad

from setsweep.data.image_decoder import Size

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Place = tuple[int, int]


def cut_window(image: Image | Tensor, scaled: Size, *, size: int, place: Place | None, padding: int) -> Pixels:
    """A square window of an image.

    Args:
        image: in RGB, not yet scaled: Pillow's, or (3, height, width) uint8.
        scaled: width and height that the whole image would be scaled to.
        size: side of the window.
        place: two whole numbers which, modulo the number of choices, say where the window lies (row, column); None: in
            the middle.
        padding: pixels of black border around the scaled image, in which the window may lie.

    Returns:
        (3, size, size) uint8.
    """
    wide, high = scaled
    top, left = (_start(have, size, padding, axis, place) for axis, have in enumerate((high, wide)))
    if isinstance(image, Tensor):
        return _cut_tensor(image, scaled, top, left, size, padding)
    return _cut_picture(image, scaled, top, left, size, padding)


def _start(have: int, size: int, padding: int, axis: int, place: Place | None) -> int:
    """The first coordinate of the window along an axis; half pixels are rounded as torchvision rounds them."""
    if place is None:
        return round((have - size) / 2)
    return place[axis] % (have + 2 * padding - size + 1) - padding


def _cut_tensor(image: Tensor, scaled: Size, top: int, left: int, size: int, padding: int) -> Pixels:
    """The whole image is scaled: torch has no windows, and it takes less time than Pillow's window all the same."""
    whole = interpolate(image[None], (scaled[1], scaled[0]), mode="bilinear", antialias=True)[0]
    if padding:
        whole = pad(whole, (padding,) * 4)
    top, left = top + padding, left + padding
    return whole[:, top : top + size, left : left + size].numpy()


def _cut_picture(image: Image, scaled: Size, top: int, left: int, size: int, padding: int) -> Pixels:
    from PIL.Image import Resampling

    wide, high = scaled
    if padding:
        whole = image.resize(scaled, Resampling.BILINEAR)
        window = whole.crop((left, top, left + size, top + size))  # black where it is outside
    else:
        across, down = image.width / wide, image.height / high
        right, bottom = min((left + size) * across, image.width), min((top + size) * down, image.height)
        window = image.resize((size, size), Resampling.BILINEAR, box=(left * across, top * down, right, bottom))
    return np.asarray(window).transpose(2, 0, 1)
