"""Hits on a test split in one bit an image, and the name of its images."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor
from torch.nn import functional

from setsweep.data.dataset import Split

_VALUES = 64  # of each image that its name is made from, spread evenly


def packed(hits: Tensor) -> bytes:
    """One bit an image, the first the highest of its byte; 0 beyond the last.

    Args:
        hits: (images,) bool.
    """
    eights = functional.pad(hits.to(torch.uint8), (0, -len(hits) % 8)).view(-1, 8)
    places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8, device=hits.device)
    return bytes((eights * places).sum(1, dtype=torch.uint8).tolist())


def order_of(split: Split) -> str:
    """16 hexadecimal digits that name the images of a split, with their labels, and their order.

    Of an image in memory 64 of its values count, of one in a file its name; the folder may be another elsewhere.
    """
    inputs = split.inputs
    if isinstance(inputs, Tensor):
        values = inputs.flatten(1)
        shown = values[:, :: max(1, values.shape[1] // _VALUES)].contiguous().cpu().numpy().tobytes()
    else:
        shown = inputs.names.tobytes()
    digest = hashlib.sha256(f"{len(split)}/{len(shown)}/".encode())
    digest.update(split.labels.to(torch.int64).contiguous().cpu().numpy().tobytes())
    digest.update(shown)
    return digest.hexdigest()[:16]
