"""Hits: which test images a run had right, one bit for each image, set rule and k."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hits:
    """Which test images' labels lie in their sets.

    Args:
        images: how many there are.
        order: names the images and their order: bits of the same name are of the same images.
        bits: for each accuracy over all examples alike ("avg5_accuracy"), at its own best epoch, one bit an image,
            eight to a byte, the first image the highest bit (as `numpy.packbits` does); 0 beyond the last image.
    """

    images: int
    order: str
    bits: Mapping[str, bytes]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        bits = {name: base64.b64encode(packed).decode("ascii") for name, packed in self.bits.items()}
        return {"images": self.images, "order": self.order, "bits": bits}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Hits:
        """The inverse of `to_dict`."""
        bits = {name: base64.b64decode(packed, validate=True) for name, packed in plain["bits"].items()}
        return cls(plain["images"], plain["order"], bits)
