"""Which scores are the largest: of each row with ties to the lowest class, or of a whole batch; and which is the k-th.

The k-th largest score of a row is its order statistic of rank k counted from above, what the papers call top_k.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

COLUMN = 16


class NotDifferentiable(torch.autograd.Function):
    """Functions of detached tensors; of their own for their vmap rule, since branches on ties need plain tensors."""

    @classmethod
    def of(cls, *arguments: Any) -> Any:
        """`apply`, but for its 60 microseconds where no transform such as vmap is at work."""
        transformed = torch._C._are_functorch_transforms_active()  # noqa: SLF001 - as apply itself asks
        return (cls.apply if transformed else cls.forward)(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """See ``torch.autograd.Function``."""
        ctx.mark_non_differentiable(*([output] if isinstance(output, Tensor) else output))


def top_classes(scores: Tensor, k: int) -> Tensor:
    """The classes of the `k` largest scores of each row; of equal scores the lowest class first.

    Args:
        scores: (batch, classes).
        k: 1 to classes - 1.

    Returns:
        (batch, k) int64, in no particular order. Not differentiable.
    """
    if torch.compiler.is_compiling():
        return _top_by_sorting(scores.detach(), k)
    classes: Tensor = _TopClasses.of(scores.detach(), k)
    return classes


def kth_largest_class(scores: Tensor, k: int) -> Tensor:
    """The class of the `k`-th largest score of each row, or one with a NaN score where the row has any.

    Args:
        scores: (..., classes).
        k: 1 to classes.

    Returns:
        (...,) int64; among equal scores any.
    """
    values, classes = scores.topk(k)
    return torch.where(values[..., 0].isnan(), classes[..., 0], classes[..., -1])


def kth_largest_score(scores: Tensor, k: int) -> Tensor:
    """The `k`-th largest score of each row, NaN counted as the largest.

    Args:
        scores: (..., classes).
        k: 1 to classes.

    Returns:
        (...,).
    """
    return scores.topk(k).values[..., -1]


def top_positions(values: Tensor, count: int) -> Tensor:
    """Positions of the `count` largest of all values, in no particular order; of equal ones any.

    Of columns of 16 entries, those with the `count` largest maxima hold all of the `count` largest entries, so that the
    selection itself sees 16 x count entries instead of all: three times as fast where count is small.

    Args:
        values: (entries,).
        count: 0 to entries.

    Returns:
        (count,) int64.
    """
    columns = len(values) // COLUMN
    if columns < 2 * count or len(values) % COLUMN:
        return values.topk(count, sorted=False).indices
    grid = values.view(COLUMN, columns)
    chosen = grid.amax(0).topk(count, sorted=False).indices
    within = grid[:, chosen].flatten().topk(count, sorted=False).indices
    return within // count * columns + chosen[within % count]


def _top_by_sorting(scores: Tensor, k: int) -> Tensor:
    return scores.sort(dim=1, descending=True, stable=True).indices[:, :k]


class _TopClasses(NotDifferentiable):
    @staticmethod
    def forward(scores: Tensor, k: int) -> Tensor:
        if scores.is_cuda:  # a branch on ties would wait for the device
            return _top_by_sorting(scores, k)
        values, classes = scores.topk(k + 1, dim=1)
        classes = classes[:, :k]
        tied = values[:, k - 1] == values[:, k]
        if tied.any():
            classes[tied] = _top_by_sorting(scores[tied], k)
        return classes

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, None], scores: Tensor, k: int) -> tuple[Tensor, int]:
        batches = scores.movedim(in_dims[0], 0)
        return top_classes(batches.flatten(0, 1), k).view(*batches.shape[:2], k), 0
