"""Rows computed some at a time, where computing all at once would take too much memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]


def in_parts(compute: Callable[[Tensor], Pair], rows: Tensor, *, numbers: int, numbers_of_row: int) -> Pair:
    """What `compute` gives for all rows, called with as many at a time as the memory allows, but at least one.

    Args:
        compute: gives two tensors with a row for each of its argument's.
        rows: (rows, ...).
        numbers: that may be held at a time.
        numbers_of_row: that `compute` holds for each row.
    """
    parts = [compute(part) for part in torch.split(rows, max(1, numbers // numbers_of_row))]
    if len(parts) == 1:
        return parts[0]
    first, second = zip(*parts, strict=True)
    return torch.cat(first), torch.cat(second)
