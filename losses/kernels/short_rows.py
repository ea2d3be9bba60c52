"""Which entries are the largest, where rows are shorter than a vector register: on CPU, as masks instead of positions.

Everything here works on all examples of a class at a time, which is fastest where these lie together in memory. For
1800 examples of 6 classes the mask of the 2 largest takes a quarter of the time of ``torch.topk`` and of the look-ups
and scatters that positions ask for; for ten times as many examples a tenth.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from setsweep.losses.kernels.selection import NotDifferentiable, kth_largest_score

FEW_CLASSES = 16
FEW_COMPARISONS = 64  # of two classes; with more of them a selection costs less


def are_few(scores: Tensor) -> bool:
    """Whether rows are so short, on CPU, that masks pay."""
    return scores.shape[1] < FEW_CLASSES and scores.device.type == "cpu" and not torch.compiler.is_compiling()


def by_class(scores: Tensor) -> Tensor:
    """The same scores (batch, classes) with those of a class together in memory."""
    return scores.t().contiguous().t()


def top_mask(scores: Tensor, k: int) -> Tensor:
    """1 at the `k` largest scores of each row, else 0; of equal scores the lowest class first.

    Args:
        scores: (batch, classes).
        k: 1 to classes - 1.

    Returns:
        (batch, classes), of the scores' dtype and layout. Not differentiable.
    """
    mask: Tensor = _TopMask.of(scores.detach(), k)
    return mask


def mark_largest_(values: Tensor, count: int) -> Tensor:
    """The `count` largest values of each batch replaced by 1, of equal ones any, and all others by 0.

    Args:
        values: (classes, batches, examples), a plain tensor: not under ``torch.func.vmap``.
        count: 1 to classes x examples.
    """
    flat = values.transpose(0, 1).flatten(1)
    least = np.partition(flat.numpy(), -count, axis=1)[:, -count]  # half the time of torch.topk and torch.kthvalue
    if flat.data_ptr() == values.data_ptr():
        flat = flat.clone()
    values.ge_(torch.from_numpy(least).unsqueeze(1))
    wrong = values.sum((0, 2)) != count
    if wrong.any():  # there are ties or NaN, which counts as largest
        for batch in wrong.nonzero()[:, 0].tolist():
            top = flat[batch].topk(count, sorted=False).indices
            values[:, batch] = torch.zeros_like(flat[batch]).scatter_(0, top, 1.0).view(len(values), -1)
    return values


class _TopMask(NotDifferentiable):
    @staticmethod
    def forward(scores: Tensor, k: int) -> Tensor:
        few_rounds = k * scores.shape[-1] <= FEW_COMPARISONS
        least = _kth_largest_by_comparisons(scores, k) if few_rounds else kth_largest_score(scores, k)
        mask = scores.clone().ge_(least.unsqueeze(-1))
        wrong = mask.sum(-1) != k  # where there are ties or NaN, which counts as largest
        if wrong.any():
            top = scores[wrong].sort(dim=1, descending=True, stable=True).indices[:, :k]
            mask[wrong] = torch.zeros_like(scores[wrong]).scatter_(1, top, 1.0)
        return mask

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, None], scores: Tensor, k: int) -> tuple[Tensor, int]:
        return top_mask(scores.movedim(in_dims[0], 0), k), 0


def _kth_largest_by_comparisons(scores: Tensor, k: int) -> Tensor:
    """As `kth_largest_score`, by k rounds in which the largest leaves; but NaN where any score is."""
    rest = list(scores.unbind(-1))
    for _ in range(k - 1):
        largest, losers = rest[0], []
        for one in rest[1:]:
            losers.append(torch.minimum(largest, one))
            largest = torch.maximum(largest, one)
        rest = losers
    return reduce(torch.maximum, rest)
