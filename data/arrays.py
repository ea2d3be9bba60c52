"""A data set as plain arrays and back, so that processes can share one copy of it in read-only memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from setsweep.data.dataset import Dataset, Split
from setsweep.data.image_files import ImageFiles

_SPLITS = ("train", "val", "test")
_PLAIN = ("num_classes", "mean", "std", "class_names", "crop", "decoder")


def to_arrays(dataset: Dataset) -> dict[str, Any]:
    """The data set as a flat dict of numpy arrays, which share its memory, and plain values."""
    arrays: dict[str, Any] = {}
    for name in _SPLITS:
        split: Split = getattr(dataset, name)
        inputs = split.inputs
        if isinstance(inputs, ImageFiles):
            arrays |= {f"{name}_names": inputs.names, f"{name}_folder": inputs.folder, f"{name}_resize": inputs.resize}
        else:
            arrays[f"{name}_inputs"] = inputs.numpy()
        arrays[f"{name}_labels"] = split.labels.numpy()
    plain = {name: getattr(dataset, name) for name in _PLAIN}
    superclasses = dataset.superclasses
    return {**arrays, **plain, "superclasses": None if superclasses is None else superclasses.numpy()}


def from_arrays(arrays: dict[str, Any]) -> Dataset:
    """The inverse of `to_arrays`: tensors on the very memory of the arrays, which may be read-only."""
    superclasses = arrays["superclasses"]
    members: dict[str, Any] = {name: arrays[name] for name in _PLAIN}
    for name in _SPLITS:
        members[name] = Split(_inputs(arrays, name), as_tensor(arrays[f"{name}_labels"]))
    return Dataset(**members, superclasses=None if superclasses is None else as_tensor(superclasses))


def _inputs(arrays: dict[str, Any], split: str) -> Tensor | ImageFiles:
    if f"{split}_inputs" in arrays:
        return as_tensor(arrays[f"{split}_inputs"])
    return ImageFiles(arrays[f"{split}_folder"], arrays[f"{split}_names"], arrays[f"{split}_resize"])


def as_tensor(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on the memory of an array, without a copy and without torch's warning where that memory is read-only.

    Torch has no read-only tensors. Nothing in this project writes to the tensors of a data set; writing to one on
    read-only memory would end the process.
    """
    return torch.from_numpy(np.asarray(_Memory(array)))


class _Memory:
    """The memory of an array, described to numpy as one that may be written; keeps the array alive."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        interface = array.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, False)}
