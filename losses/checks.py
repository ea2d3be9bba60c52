"""What every loss asks of its arguments, and how it says so when they do not fit.

A label's range is checked by the look-up of its score (`at_labels`), which has to happen anyway: on CPU a label out of
range raises ValueError; on CUDA the look-up's own device-side assertion fires, so no step ever waits for the GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor


def check_batch(scores: Tensor, labels: Tensor, *, soft_labels: bool = False) -> Tensor:
    """The scores, in float32 where they came in half precision.

    Args:
        scores: (batch, classes) floating point.
        labels: (batch,) int64 class indices; where `soft_labels`, (batch, classes) probabilities as well.
        soft_labels: whether the loss takes probabilities as labels.

    Raises:
        ValueError: a shape or dtype does not fit. The range of the labels is checked by `at_labels`.
    """
    if scores.ndim != 2 or not scores.is_floating_point():
        raise ValueError(f"scores must be floating point of shape (batch, classes), got {_described(scores)}.")
    if labels.is_floating_point():
        if not soft_labels:
            raise ValueError(f"labels must be int64 class indices, got {_described(labels)}.")
        if labels.shape != scores.shape:
            raise ValueError(
                f"soft labels must have the shape of scores {tuple(scores.shape)}, got {_described(labels)}."
            )
    elif labels.dtype != torch.int64 or labels.shape != scores.shape[:1]:
        rule = f"int64 of shape ({scores.shape[0]},)"
        raise ValueError(f"labels must be {rule}, one for each row of scores, got {_described(labels)}.")
    return widened(scores)


def widened(scores: Tensor) -> Tensor:
    """Half precision as float32, all else as it is."""
    return scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores


def at_labels(values: Tensor, labels: Tensor) -> Tensor:
    """``values[i, labels[i]]`` as (batch,).

    Where the values of a class lie together in memory their gradient will, too: its layout is that of the look-up.

    Raises:
        ValueError: a label is no column of `values` (on CPU; on CUDA the device-side assertion of the look-up fires).
    """
    try:
        if values.stride(0) < values.stride(1):
            return values.t().gather(0, labels.unsqueeze(0)).squeeze(0)
        return values.gather(1, labels.unsqueeze(1)).squeeze(1)
    except RuntimeError:
        check_range("labels", labels, "num_classes", values.shape[1])
        raise


def check_range(subject: str, indices: Tensor, size_name: str, size: int) -> None:
    """Nothing, if all `indices` lie between 0 and `size` - 1.

    Raises:
        ValueError: one does not; not on CUDA, where the first use of the indices asserts it without waiting for the
            device.
    """
    if indices.is_cuda:
        return
    wrong = indices[(indices < 0) | (indices >= size)]
    if len(wrong) > 0:
        raise ValueError(f"{subject} must be between 0 and {size_name} - 1 = {size - 1}, got {wrong[0].item()}.")


def check_k(k: int | None, num_classes: int) -> int:
    """The set size, an integer from 1 to num_classes - 1.

    Raises:
        ValueError: it is missing, no integer, or out of range.
    """
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= num_classes - 1:
        raise ValueError(f"k must be between 1 and num_classes - 1 = {num_classes - 1}, got {k!r}.")
    return k


def _described(tensor: Tensor) -> str:
    return f"{tensor.dtype} of shape {tuple(tensor.shape)}".removeprefix("torch.")
