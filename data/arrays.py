"""A data set as plain arrays and back, so that processes can share one copy of it in read-only memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from data.dataset import Dataset, Split

_SPLITS = ("train", "val", "test")


def to_arrays(dataset: Dataset) -> dict[str, Any]:
    """The data set as a flat dict of numpy arrays, which share its memory, and plain values."""
    arrays: dict[str, Any] = {}
    for name in _SPLITS:
        split: Split = getattr(dataset, name)
        arrays[f"{name}_inputs"] = split.inputs.numpy()
        arrays[f"{name}_labels"] = split.labels.numpy()
    return {
        **arrays,
        "num_classes": dataset.num_classes,
        "mean": dataset.mean,
        "std": dataset.std,
        "superclasses": None if dataset.superclasses is None else dataset.superclasses.numpy(),
        "class_names": dataset.class_names,
    }


def from_arrays(arrays: dict[str, Any]) -> Dataset:
    """The inverse of `to_arrays`: tensors on the very memory of the arrays, which may be read-only."""
    splits = {name: Split(as_tensor(arrays[f"{name}_inputs"]), as_tensor(arrays[f"{name}_labels"])) for name in _SPLITS}
    superclasses = arrays["superclasses"]
    return Dataset(
        **splits,
        num_classes=arrays["num_classes"],
        mean=arrays["mean"],
        std=arrays["std"],
        superclasses=None if superclasses is None else as_tensor(superclasses),
        class_names=arrays["class_names"],
    )


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
