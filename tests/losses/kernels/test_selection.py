from __future__ import annotations

import pytest
import torch
from torch import Tensor

from setsweep.losses.kernels.selection import kth_largest_class, kth_largest_score, top_classes, top_positions


def random_scores(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def tied_scores(rows: int, classes: int) -> Tensor:
    return torch.randint(3, (rows, classes), generator=torch.Generator().manual_seed(0)).float()


@pytest.mark.parametrize("k", [1, 2, 5])
def test_ties_go_to_the_lowest_class(k: int) -> None:
    scores = tied_scores(200, 6)
    expected = scores.sort(dim=1, descending=True, stable=True).indices[:, :k]
    assert torch.equal(top_classes(scores, k).sort(dim=1).values, expected.sort(dim=1).values)


def test_nan_counts_as_the_largest() -> None:
    scores = torch.tensor([[1.0, torch.nan, 3.0, 2.0], [4.0, 1.0, 3.0, -torch.inf]])
    assert top_classes(scores, 2).sort(1).values.tolist() == [[1, 2], [0, 2]]


def test_top_classes_are_not_differentiated() -> None:
    assert not top_classes(random_scores(3, 20).requires_grad_(), 2).requires_grad


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_top_classes_under_vmap_are_those_of_each_batch(dim: int) -> None:
    batches = tied_scores(60, 20).view(3, 20, 20)
    mapped = torch.func.vmap(lambda each: top_classes(each, 4), in_dims=dim)(batches.movedim(0, dim))
    assert torch.equal(mapped, torch.stack([top_classes(each, 4) for each in batches]))


def test_top_classes_compiled_are_the_same() -> None:
    scores = tied_scores(50, 20)
    compiled = torch.compile(lambda each: top_classes(each, 4), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(scores).sort(1).values, top_classes(scores, 4).sort(1).values)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_class_and_score_of_the_kth_largest_belong_together(k: int) -> None:
    scores = random_scores(5, 4, 7)
    classes, values = kth_largest_class(scores, k), kth_largest_score(scores, k)
    assert torch.equal(values, scores.sort(-1, descending=True).values[..., k - 1])
    assert torch.equal(scores.gather(-1, classes.unsqueeze(-1)).squeeze(-1), values)


def test_the_kth_largest_class_of_a_row_with_nan_is_the_one_with_nan() -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0], [3.0, torch.nan, 2.0]])
    assert kth_largest_class(scores, 2).tolist() == [2, 1]


@pytest.mark.parametrize(("entries", "count"), [(4096, 50), (4097, 50), (4096, 0), (32, 32), (4096, 128), (4096, 129)])
def test_the_positions_are_those_of_the_largest_entries(entries: int, count: int) -> None:
    values = random_scores(entries)
    positions = top_positions(values, count)
    assert torch.equal(values[positions].sort().values, values.sort().values[entries - count :])


@pytest.mark.parametrize("entries", [4096, 4097])
def test_of_equal_entries_exactly_as_many_positions_are_given_as_are_asked_for(entries: int) -> None:
    values = torch.zeros(entries)
    values[:10] = 1.0
    positions = top_positions(values, 50)
    assert len(positions.unique()) == 50
    assert set(range(10)) <= set(positions.tolist())


def test_the_largest_entries_are_found_where_one_column_holds_them_all() -> None:
    # Of 4,096 entries 7, 263, 519, ... share a column of 16, whose maximum alone does not tell that all are large.
    values = random_scores(4096)
    values[7::256] = 100 + torch.arange(16.0)
    positions = top_positions(values, 20)
    assert torch.equal(values[positions].sort().values, values.sort().values[-20:])
