"""Which entries are the largest: of each row with ties to the lowest class, or of a whole batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

GROUP = 16


def top_indices(scores: Tensor, k: int) -> Tensor:
    """The classes of the `k` largest scores of each row; of equal scores the lowest class first.

    Args:
        scores: (batch, classes).
        k: 1 to classes - 1.

    Returns:
        (batch, k) int64, in no particular order. Not differentiable.
    """
    if torch.compiler.is_compiling():
        return _stable_top(scores.detach(), k)
    indices: Tensor = _TopIndices.apply(scores.detach(), k)
    return indices


def _stable_top(scores: Tensor, k: int) -> Tensor:
    return scores.sort(dim=1, descending=True, stable=True).indices[:, :k]


def kth_class(scores: Tensor, k: int) -> Tensor:
    """The class of the `k`-th largest score of each row, or one with a NaN score where the row has any.

    Args:
        scores: (..., classes).
        k: 1 to classes.

    Returns:
        (...,) int64; among equal scores any.
    """
    values, classes = scores.topk(k)
    return torch.where(values[..., 0].isnan(), classes[..., 0], classes[..., -1])


def top_positions(values: Tensor, count: int) -> Tensor:
    """Positions of the `count` largest of all values, in no particular order; of equal ones any.

    The largest `count` of the maxima of 16 interleaved entries each lie in columns that hold all of the `count` largest
    entries, so the selection itself sees 16 x count entries instead of all: three times as fast where count is small.

    Args:
        values: (entries,).
        count: 0 to entries.

    Returns:
        (count,) int64.
    """
    columns = len(values) // GROUP
    if columns < 2 * count or len(values) % GROUP:
        return values.topk(count, sorted=False).indices
    grid = values.view(GROUP, columns)
    chosen = grid.amax(0).topk(count, sorted=False).indices
    within = grid[:, chosen].flatten().topk(count, sorted=False).indices
    return within // count * columns + chosen[within % count]


class _TopIndices(torch.autograd.Function):
    """A function of its own only for its vmap rule: the branch on ties needs a plain tensor."""

    @staticmethod
    def forward(scores: Tensor, k: int) -> Tensor:
        if scores.is_cuda:  # a branch on ties would wait for the device
            return _stable_top(scores, k)
        values, indices = scores.topk(k + 1, dim=1)
        indices = indices[:, :k]
        tied = values[:, k - 1] == values[:, k]
        if tied.any():
            indices[tied] = _stable_top(scores[tied], k)
        return indices

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None]:
        return None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, None], scores: Tensor, k: int) -> tuple[Tensor, int]:
        batches = scores.movedim(in_dims[0] or 0, 0)
        return top_indices(batches.flatten(0, 1), k).view(*batches.shape[:2], k), 0
