"""Masks of the largest entries where there are few classes, against selections."""

from __future__ import annotations

import pytest
import torch

from setsweep.losses.kernels.selection import kth_largest_score, top_classes
from setsweep.losses.kernels.short_rows import (
    _kth_largest_by_comparisons,
    are_few,
    by_class,
    mark_largest_,
    top_mask,
)


def _scores(batch: int, classes: int, *, ties: bool = False) -> torch.Tensor:
    scores = torch.randn(batch, classes, generator=torch.Generator().manual_seed(0))
    return scores.mul(2).round() if ties else scores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("classes", "k"), [(2, 1), (6, 2), (6, 5), (15, 7)])
def test_the_mask_marks_the_top_k_with_ties_to_the_lowest_class(classes: int, k: int, ties: bool) -> None:
    scores = _scores(200, classes, ties=ties)
    expected = torch.zeros_like(scores).scatter(1, top_classes(scores, k), 1.0)
    assert torch.equal(top_mask(scores, k), expected)
    assert torch.equal(top_mask(by_class(scores), k), expected)


def test_nan_ranks_before_all_numbers_and_leaves_other_rows_alone() -> None:
    scores = torch.tensor([[1.0, torch.nan, 3.0], [1.0, 2.0, -torch.inf]])
    assert top_mask(scores, 2).tolist() == [[0, 1, 1], [1, 1, 0]]


def test_the_mask_under_vmap_is_that_of_each_batch() -> None:
    scores = _scores(60, 6, ties=True).view(3, 20, 6)
    mapped = torch.func.vmap(lambda each: top_mask(each, 2))(scores)
    assert torch.equal(mapped, torch.stack([top_mask(each, 2) for each in scores]))


def test_by_class_puts_the_scores_of_a_class_side_by_side() -> None:
    scores = _scores(5, 3)
    by = by_class(scores)
    assert torch.equal(by, scores)
    assert by.stride() == (1, 5)
    assert by_class(by).data_ptr() == by.data_ptr()


def test_many_classes_are_not_few() -> None:
    assert are_few(_scores(2, 15))
    assert not are_few(_scores(2, 16))


def test_of_equal_values_in_a_single_batch_as_many_are_marked_as_are_asked_for() -> None:
    scores = _scores(6, 10, ties=True).view(6, 1, 10)  # one batch: the values lie in memory as they are selected from
    marked = mark_largest_(scores.clone(), 20)
    assert marked.sum() == 20
    assert scores[marked == 1].min() >= scores[marked == 0].max()


@pytest.mark.parametrize("values", ["distinct", "equal", "nan"])
def test_exactly_as_many_are_marked_in_each_batch_whatever_the_ties(values: str) -> None:
    scores = _scores(6, 4 * 10).view(6, 4, 10).clone()
    if values == "equal":
        scores[:, 1] = 0.5
    if values == "nan":
        scores[2, 1] = torch.nan
    marked = mark_largest_(scores.clone(), 7)
    assert marked.sum((0, 2)).tolist() == [7, 7, 7, 7]
    for batch in (0, 2, 3):
        chosen = marked[:, batch] == 1
        assert scores[:, batch][chosen].min() > scores[:, batch][~chosen].max()


def test_marks_of_batches_whose_classes_lie_together_are_made_in_place() -> None:
    scores = _scores(8, 6)
    values = by_class(scores).t().view(6, 2, 4)  # batches of 4
    expected = torch.zeros(8, 6)
    for batch in (slice(0, 4), slice(4, 8)):
        chosen = expected[batch].flatten().index_fill(0, scores[batch].flatten().topk(5).indices, 1.0)
        expected[batch] = chosen.view(4, 6)
    assert mark_largest_(values, 5) is values
    assert torch.equal(values.view(6, 8).t(), expected)


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (6, 3), (15, 4), (12, 12)])
def test_a_tournament_of_classes_finds_the_kth_largest_score(classes: int, k: int) -> None:
    scores = _scores(50, classes, ties=True)
    assert torch.equal(_kth_largest_by_comparisons(scores, k), kth_largest_score(scores, k))


def test_a_tournament_with_nan_is_nan() -> None:
    scores = torch.tensor([[torch.nan, 1.0, 2.0], [3.0, 1.0, torch.nan], [3.0, 1.0, 2.0]])
    for k in (1, 2, 3):
        assert _kth_largest_by_comparisons(scores, k).isnan().tolist() == [True, True, False]


def test_marks_have_the_dtype_of_the_scores_and_no_gradient() -> None:
    scores = _scores(5, 6).double().requires_grad_()
    mask = top_mask(scores, 2)
    assert mask.dtype == torch.float64
    assert not mask.requires_grad
