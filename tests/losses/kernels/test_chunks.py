from __future__ import annotations

import pytest
import torch
from torch import Tensor

from setsweep.losses.kernels.chunks import in_parts


class Compute:
    """Sums and doubles of rows; remembers how many rows it was given at a time."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        self.rows.append(len(rows))
        return rows.sum(1), 2 * rows


@pytest.mark.parametrize(
    ("numbers", "parts"),
    [
        (10_000, [7]),
        (70, [7]),  # just enough for all
        (69, [6, 1]),
        (30, [3, 3, 1]),
        (5, [1] * 7),  # too little for one row: one at a time all the same
    ],
)
def test_as_many_rows_are_computed_at_a_time_as_may_be_held(numbers: int, parts: list[int]) -> None:
    compute, rows = Compute(), torch.arange(21.0).view(7, 3)
    sums, doubles = in_parts(compute, rows, numbers=numbers, numbers_of_row=10)
    assert compute.rows == parts
    assert torch.equal(sums, rows.sum(1))
    assert torch.equal(doubles, 2 * rows)


def test_no_rows_are_computed_once() -> None:
    compute = Compute()
    sums, doubles = in_parts(compute, torch.zeros(0, 3), numbers=30, numbers_of_row=10)
    assert compute.rows == [0]
    assert sums.shape == (0,)
    assert doubles.shape == (0, 3)
