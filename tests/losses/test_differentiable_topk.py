from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.differentiable_topk import FLOOR, differentiable_topk, size_distribution

LARGEST = -math.log(FLOOR)  # 16.1


@pytest.mark.parametrize(
    ("top1", "spread", "expected"),
    [
        (0.25, False, [0.25, 0, 0, 0, 0.75]),
        (0.5, False, [0.5, 0, 0, 0, 0.5]),
        (0.2, True, [0.2, 0.2, 0.2, 0.2, 0.2]),
        (1.0, True, [1, 0, 0, 0, 0]),
        (0.0, False, [0, 0, 0, 0, 1]),
    ],
)
def test_the_papers_distributions_of_the_set_size_are_among_ours(
    top1: float, spread: bool, expected: list[float]
) -> None:
    distribution = size_distribution(5, top1=top1, spread=spread)
    torch.testing.assert_close(distribution, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("spread", [False, True])
def test_sets_of_one_have_all_the_weight_where_k_is_1(spread: bool) -> None:
    assert size_distribution(1, top1=0.25, spread=spread).tolist() == [1.0]


def test_two_scores_by_hand() -> None:
    # With all the weight on one class, the softmax alone: p = 1 / (1 + e^-1). With all on a set of both, p = 1.
    scores, label = torch.tensor([[1.0, 0.0]], dtype=torch.float64), torch.tensor([0])
    alone = differentiable_topk(scores, label, torch.tensor([1.0]), m=2).item()
    both = differentiable_topk(scores, label, torch.tensor([0.0, 1.0]), m=2).item()
    assert alone == pytest.approx(math.log(1 + math.exp(-1)), abs=3e-7)
    assert both == pytest.approx(0, abs=3e-7)


def test_with_all_weight_on_one_class_it_is_cross_entropy_of_the_largest_scores(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    whole = differentiable_topk(scores, labels, torch.tensor([1.0]), m=12)
    kept = cross_entropy(scores, labels) < 10  # above, the floor of 1e-7 shows
    torch.testing.assert_close(whole[kept], cross_entropy(scores, labels)[kept], rtol=0, atol=1e-7 * math.exp(10))


@pytest.mark.parametrize("k", [2, 5])
def test_steep_swaps_give_the_top_k_error_times_the_largest_loss(batch: tuple[Tensor, Tensor], k: int) -> None:
    scores, labels = batch
    loss = build_loss("differentiable_topk", num_classes=12, k=k, top1=0.0, steepness=1e12)
    own = scores.gather(1, labels.unsqueeze(1))
    outside = (scores > own).sum(1) >= k
    assert 0 < outside.sum() < len(labels)
    torch.testing.assert_close(loss(scores, labels), outside.double() * LARGEST, rtol=0, atol=1e-3)


def test_it_falls_with_k_where_all_weight_is_on_sets_of_k(batch: tuple[Tensor, Tensor]) -> None:
    values = [build_loss("differentiable_topk", num_classes=12, k=k, top1=0.0)(*batch) for k in (2, 3, 5, 9)]
    assert all((after < before).all() for before, after in itertools.pairwise(values))


def test_only_the_m_largest_scores_and_the_labels_matter(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    loss = build_loss("differentiable_topk", num_classes=12, k=3, m=6)
    others = scores.scatter(1, labels.unsqueeze(1), -torch.inf)
    low = others < others.topk(5).values[:, -1:]
    low = low.scatter(1, labels.unsqueeze(1), value=False)
    lower = torch.where(low, scores - 7.0, scores)
    torch.testing.assert_close(loss(lower, labels), loss(scores, labels), rtol=0, atol=0)
    leaf = scores.clone().requires_grad_()
    loss(leaf, labels).sum().backward()
    assert leaf.grad is not None
    assert (leaf.grad[low] == 0).all()
    assert (leaf.grad[~low] != 0).all()


def test_a_shift_of_all_scores_changes_nothing(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    loss = build_loss("differentiable_topk", num_classes=12, k=4)
    torch.testing.assert_close(loss(scores + 3.0, labels), loss(scores, labels), rtol=1e-9, atol=1e-12)


def test_the_order_of_the_classes_does_not_matter(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    loss = build_loss("differentiable_topk", num_classes=12, k=4, m=8)
    torch.testing.assert_close(loss(scores.flip(1), 11 - labels), loss(scores, labels), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("classes", "k", "m", "sorted_ones"), [(7, 3, 16, 7), (100, 5, 16, 16), (100, 30, 16, 31)])
def test_m_is_more_than_k_and_at_most_the_number_of_classes(classes: int, k: int, m: int, sorted_ones: int) -> None:
    loss = build_loss("differentiable_topk", num_classes=classes, k=k, m=m)
    assert loss.m == sorted_ones
    assert loss(torch.zeros(2, classes), torch.tensor([0, classes - 1])).isfinite().all()


def test_the_module_gives_what_the_function_makes_by_itself(batch: tuple[Tensor, Tensor]) -> None:
    loss = build_loss("differentiable_topk", num_classes=12, k=4, top1=0.3, spread=True, steepness=0.7)
    distribution = size_distribution(4, top1=0.3, spread=True)
    torch.testing.assert_close(loss(*batch), differentiable_topk(*batch, distribution, m=12, steepness=0.7))
    assert loss.state_dict() == {}


def test_gradient_descent_brings_the_label_among_the_k_largest() -> None:
    scores = torch.tensor([[5.0, 4.0, 3.0, 2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    loss = build_loss("differentiable_topk", num_classes=5, k=2, top1=0.0)
    for _ in range(200):
        (gradient,) = torch.autograd.grad(loss(scores, torch.tensor([4])).sum(), scores)
        scores = (scores - gradient).detach().requires_grad_()
    assert (scores > scores[:, 4:]).sum() < 2
