from __future__ import annotations

import pytest
import torch

from setsweep.losses.kernels.selection import kth_largest_class, top_classes, top_positions


@pytest.mark.parametrize("k", [1, 2, 5])
def test_ties_go_to_the_lowest_class(k):
    scores = torch.randint(3, (200, 6), generator=torch.Generator().manual_seed(0)).float()
    expected = scores.sort(dim=1, descending=True, stable=True).indices[:, :k]
    assert torch.equal(top_classes(scores, k).sort(dim=1).values, expected.sort(dim=1).values)


@pytest.mark.parametrize(("entries", "count"), [(4096, 50), (4097, 50), (4096, 0), (32, 32)])
def test_the_positions_are_those_of_the_largest_entries(entries, count):
    values = torch.randn(entries, generator=torch.Generator().manual_seed(0))
    positions = top_positions(values, count)
    assert torch.equal(values[positions].sort().values, values.sort().values[entries - count :])


def test_the_kth_largest_class_of_a_row_with_nan_is_the_one_with_nan():
    scores = torch.tensor([[3.0, 1.0, 2.0], [3.0, torch.nan, 2.0]])
    assert kth_largest_class(scores, 2).tolist() == [2, 1]
