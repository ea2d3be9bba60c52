"""Tensors moved to a device once, however many runs of the process use them there, and if there is room for them."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

_RESIDENT: WeakValueDictionary[Any, Tensor] = WeakValueDictionary()
_SHARE = 0.5  # of the free memory of a GPU, at most: the rest is for models


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on a device: itself if it lies there, or is too large to; else one copy for all who hold it now.

    Args:
        tensor: never written to, and kept by the caller for as long as the copy: its address names the copy.
        device: where it is wanted.
    """
    if tensor.device == device:
        return tensor
    key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, device)
    moved = _RESIDENT.get(key)
    if moved is None:
        if device.type == "cuda" and tensor.nbytes > _SHARE * torch.cuda.mem_get_info(device)[0]:
            return tensor
        moved = _RESIDENT[key] = tensor.to(device)
    return moved
