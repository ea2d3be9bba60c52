from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.cardinality_aware import (
    chosen_sizes,
    constrained_cardinality,
    cost_sensitive_cardinality,
    set_costs,
    set_sizes,
)
from setsweep.losses.cross_entropy import cross_entropy

BOTH = [cost_sensitive_cardinality, constrained_cardinality]
Loss = Callable[..., Tensor]


@pytest.mark.parametrize(
    ("max_size", "classes", "sizes"),
    [(8, 100, [1, 2, 4, 8]), (8, 8, [1, 2, 4]), (7, 100, [1, 2, 4]), (1, 5, [1]), (64, 2, [1]), (8, 10, [1, 2, 4, 8])],
)
def test_sizes_are_powers_of_two_up_to_the_largest_that_leaves_a_class_out(
    max_size: int, classes: int, sizes: list[int]
) -> None:
    assert set_sizes(max_size, classes).tolist() == sizes


def test_a_set_costs_its_price_and_1_without_the_label() -> None:
    # The label is third: outside the sets of 1 and 2, inside that of 4. Prices 0.5 x (0, log 2, log 4).
    scores = torch.tensor([[3.0, 1.0, 2.0, 0.0, -1.0]], dtype=torch.float64)
    costs = set_costs(scores, torch.tensor([1]), torch.tensor([1, 2, 4]), lam=0.5, linear_cost=False)
    most = 1 + 0.5 * math.log(4)
    expected = [1 / most, (1 + 0.5 * math.log(2)) / most, 0.5 * math.log(4) / most]
    assert costs[0].tolist() == pytest.approx(expected, rel=1e-12)


def test_prices_may_rise_with_the_size_itself() -> None:
    costs = set_costs(torch.zeros(1, 5), torch.tensor([0]), torch.tensor([1, 2, 4]), lam=0.1, linear_cost=True)
    assert costs[0].tolist() == pytest.approx([0.1 / 1.4, 0.2 / 1.4, 0.4 / 1.4], rel=1e-6)


def test_of_equal_scores_the_lowest_class_comes_first() -> None:
    costs = set_costs(
        torch.zeros(4, 4), torch.arange(4), torch.tensor([1, 2]), lam=0.0, linear_cost=False
    )  # ranks 0, 1, 2, 3
    assert costs.tolist() == [[0, 0], [1, 0], [1, 1], [1, 1]]


def test_the_logistic_loss_by_hand() -> None:
    # Equal scores of 2 sizes and 3 classes, label in both sets, no price: log 3 + 2 (1 - 0) log 2.
    value = cost_sensitive_cardinality(
        torch.zeros(1, 3), torch.zeros(1, 3), torch.tensor([0]), set_sizes(2, 3), lam=0.0
    )
    assert value.item() == pytest.approx(math.log(3) + 2 * math.log(2), rel=1e-6)


def test_the_constrained_loss_by_hand() -> None:
    # Label in the set of 2 alone, no price: costs 1 and 0. Size scores 3 and 1 less their mean: 1 and -1, so (1 + 1)^2.
    scores, sizes = torch.tensor([[1.0, 0.0, -1.0]]), torch.tensor([[3.0, 1.0, 50.0]])
    label = torch.tensor([1])
    value = constrained_cardinality(scores, sizes, label, set_sizes(2, 3), lam=0.0) - cross_entropy(scores, label)
    assert value.item() == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize("loss", BOTH)
def test_without_weight_it_is_cross_entropy_of_the_classes(loss: Loss, batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    values = loss(scores, scores.flip(1), labels, set_sizes(8, 12), weight=0.0)
    torch.testing.assert_close(values, cross_entropy(scores, labels), rtol=1e-12, atol=0)


@pytest.mark.parametrize("loss", BOTH)
def test_columns_beyond_the_sizes_are_not_looked_at(loss: Loss, batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    size_scores = scores.flip(1).clone()
    before = loss(scores, size_scores, labels, set_sizes(8, 12))
    size_scores[:, 4:] = torch.nan
    torch.testing.assert_close(loss(scores, size_scores, labels, set_sizes(8, 12)), before, rtol=0, atol=0)


@pytest.mark.parametrize("loss", BOTH)
def test_classes_learn_by_cross_entropy_alone(loss: Loss, batch: tuple[Tensor, Tensor]) -> None:
    leaf, labels = batch[0].clone().requires_grad_(), batch[1]
    (both,) = torch.autograd.grad(loss(leaf, batch[0].flip(1), labels, set_sizes(8, 12), lam=0.3).sum(), leaf)
    (plain,) = torch.autograd.grad(cross_entropy(leaf, labels).sum(), leaf)
    torch.testing.assert_close(both, plain, rtol=1e-12, atol=0)


@pytest.mark.parametrize("loss", BOTH)
@pytest.mark.parametrize(
    ("ranks", "lam", "best"),
    [
        ([0, 0, 0, 3], 0.05, 4),  # errors 1/4, 1/4, 0 and prices 0, 0.035, 0.069
        ([0, 0, 0, 3], 0.3, 1),  # the same and prices 0, 0.21, 0.42
        ([0, 1, 1, 1], 0.3, 2),  # errors 3/4, 0, 0
    ],
)
def test_the_sizes_minimiser_is_the_size_of_least_cost(loss: Loss, ranks: list[int], lam: float, best: int) -> None:
    # Theorem: both losses are consistent for the cost-sensitive choice of the size.
    sizes = torch.tensor([1, 2, 4])
    scores = torch.tensor([[3.0, 2.0, 1.0, 0.0, -1.0]], dtype=torch.float64).expand(4, -1)
    labels = torch.tensor(ranks)
    leaf = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([leaf], max_iter=200, line_search_fn="strong_wolfe")

    def risk() -> Tensor:
        optimizer.zero_grad()
        value = loss(scores, leaf.expand(4, -1), labels, sizes, lam=lam).mean()
        value.backward()
        return value

    optimizer.step(risk)  # type: ignore[no-untyped-call]
    assert chosen_sizes(leaf, sizes).item() == best


def test_the_chosen_size_is_that_of_the_largest_score_among_the_sizes() -> None:
    size_scores = torch.tensor([[0.0, 2.0, 1.0, 9.0], [1.0, 1.0, 0.0, 9.0]])
    assert chosen_sizes(size_scores, torch.tensor([1, 2, 4])).tolist() == [2, 1]


def test_sizes_are_no_part_of_a_checkpoint() -> None:
    assert build_loss("cost_sensitive_cardinality", num_classes=9).state_dict() == {}
