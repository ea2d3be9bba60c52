"""Masks of the largest entries where there are few classes, against selections."""

from __future__ import annotations

import pytest
import torch

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.kernels.selection import top_classes
from setsweep.losses.kernels.short_rows import are_few, by_class, mark_largest_, top_mask

TAKES_BATCHES = sorted(name for name, declaration in LOSSES.items() if declaration.takes_batches)


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


@pytest.mark.parametrize("classes", [6, 20])
@pytest.mark.parametrize("name", TAKES_BATCHES)
def test_several_batches_at_once_give_what_each_gives(name: str, classes: int) -> None:
    loss = build_loss(name, num_classes=classes, k=3)
    generator = torch.Generator().manual_seed(1)
    heads = 2 if LOSSES[name].head == "two_head" else 1
    scores = [torch.randn(40, classes, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(heads)]
    labels = torch.randint(classes, (40,), generator=generator)

    def values(rows: slice, batches: int) -> torch.Tensor:
        given = tuple(each[rows] for each in scores)
        result: torch.Tensor = loss(given if heads == 2 else given[0], labels[rows], batches=batches)
        return result

    together = values(slice(None), 4)
    apart = torch.cat([values(slice(start, start + 10), 1) for start in range(0, 40, 10)])
    torch.testing.assert_close(together, apart, rtol=1e-12, atol=0)
    assert not torch.allclose(together, values(slice(None), 1), rtol=1e-12)
    weights = torch.rand(40, dtype=torch.float64, generator=generator)
    gradients = [torch.autograd.grad((each * weights).sum(), scores) for each in (together, apart)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-15)


def test_only_losses_without_indices_take_batches() -> None:
    assert TAKES_BATCHES == ["avgk", "epr"]
