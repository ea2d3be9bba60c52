from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.topk_transition import topk_grouping, topk_transition

# softmax of these is 0.4, 0.3, 0.2 and 0.1: the top 2 have 0.7
TENTHS = torch.tensor([[4.0, 3.0, 2.0, 1.0]], dtype=torch.float64).log()
EXACT = {"rtol": 1e-12, "atol": 1e-12}
Batch = tuple[Tensor, Tensor]
Loss = Callable[..., Tensor]


def logs(*probabilities: float) -> Tensor:
    return torch.tensor(probabilities, dtype=torch.float64).log()


def test_grouping_by_hand() -> None:
    values = topk_grouping(TENTHS.expand(4, 4), torch.arange(4), k=2)
    torch.testing.assert_close(values, -logs(0.7, 0.7, 0.2, 0.1), **EXACT)


def test_transition_by_hand() -> None:
    # 0.3 of cross-entropy and 0.7 of grouping, which are the same for a label outside the top 2
    values = topk_transition(TENTHS.expand(4, 4), torch.arange(4), k=2)
    expected = -(0.3 * logs(0.4, 0.3, 0.2, 0.1) + 0.7 * logs(0.7, 0.7, 0.2, 0.1))
    torch.testing.assert_close(values, expected, **EXACT)


def test_soft_labels_by_hand() -> None:
    # Equation 5 with half of the label on the first class, in the top 2, and half on the third, outside.
    soft = torch.tensor([[0.5, 0.0, 0.5, 0.0]], dtype=torch.float64)
    grouping = -(logs(0.7) + logs(0.2)) / 2
    torch.testing.assert_close(topk_grouping(TENTHS, soft, k=2), grouping, **EXACT)
    transition = -0.3 * (logs(0.4) + logs(0.2)) / 2 + 0.7 * grouping
    torch.testing.assert_close(topk_transition(TENTHS, soft, k=2), transition, **EXACT)


@pytest.mark.parametrize("loss", [topk_grouping, topk_transition])
def test_a_soft_label_is_worth_the_mean_of_its_classes(batch: Batch, loss: Loss) -> None:
    scores, labels = batch
    other = (labels + 1) % 12
    soft = torch.zeros_like(scores).scatter(1, labels[:, None], 0.3).scatter(1, other[:, None], 0.7)
    mixed = 0.3 * loss(scores, labels, k=3) + 0.7 * loss(scores, other, k=3)
    torch.testing.assert_close(loss(scores, soft, k=3), mixed, **EXACT)


@pytest.mark.parametrize("loss", [topk_grouping, topk_transition])
def test_a_group_of_one_is_cross_entropy(batch: Batch, loss: Loss) -> None:
    torch.testing.assert_close(loss(*batch, k=1), cross_entropy(*batch), **EXACT)


@pytest.mark.parametrize("k", [2, 5, 11])
def test_transition_lies_between_grouping_and_cross_entropy(batch: Batch, k: int) -> None:
    grouping, transition, plain = topk_grouping(*batch, k=k), topk_transition(*batch, k=k), cross_entropy(*batch)
    assert (grouping <= transition + 1e-12).all()
    assert (transition <= plain + 1e-12).all()
    assert (transition < plain - 1e-3).any()


def test_where_the_top_k_have_all_the_probability_transition_is_grouping(batch: Batch) -> None:
    scores, labels = batch
    sure = scores + 60 * (scores >= scores.topk(3).values[:, -1:])  # the others have less than 1e-25
    torch.testing.assert_close(topk_transition(sure, labels, k=3), topk_grouping(sure, labels, k=3), **EXACT)
    assert not torch.allclose(topk_transition(sure, labels, k=3), cross_entropy(sure, labels))


def test_grouping_does_not_tell_the_top_k_apart() -> None:
    scores = TENTHS.clone().requires_grad_()
    topk_grouping(scores, torch.tensor([0]), k=2).sum().backward()
    assert scores.grad is not None
    # d/ds_j of -log(q_0 + q_1) is q_j (1 - 1/0.7) within the group and q_j outside, whichever of them the label is.
    expected = [-0.4 * 3 / 7, -0.3 * 3 / 7, 0.2, 0.1]
    assert scores.grad[0].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("classes", [4, 20])
def test_of_tied_classes_the_lowest_are_in_the_top_k(classes: int) -> None:
    values = topk_grouping(torch.zeros(3, classes), torch.tensor([0, 1, 2]), k=2)
    torch.testing.assert_close(values, torch.tensor([2 / classes, 2 / classes, 1 / classes]).log().neg())


def test_grouping_jumps_where_the_label_enters_the_top_k() -> None:
    # Three scores all but equal, k = 2: from -log(1/3) to -log(2/3), by log 2. Transition jumps by 2/3 of that.
    scores, label = torch.tensor([[0.0, 1e-9, -1e-9], [0.0, 1e-9, 2e-9]], dtype=torch.float64), torch.tensor([2, 2])
    jump = math.log(2)
    outside, inside = topk_grouping(scores, label, k=2).tolist()
    assert outside - inside == pytest.approx(jump, rel=1e-6)
    outside, inside = topk_transition(scores, label, k=2).tolist()
    assert outside - inside == pytest.approx(2 / 3 * jump, rel=1e-6)


@pytest.mark.parametrize("soft", [False, True])
def test_a_weight_held_constant_weighs_the_gradients_of_the_two_losses(batch: Batch, soft: bool) -> None:
    scores, labels = batch
    given = torch.rand(40, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) if soft else labels
    scores.requires_grad_()
    losses = (
        topk_transition(scores, given, k=3, detach_weight=True),
        cross_entropy(scores, given),
        topk_grouping(scores, given, k=3),
    )
    held, plain, grouping = (torch.autograd.grad(values.sum(), scores)[0] for values in losses)
    weight = scores.detach().softmax(1).topk(3).values.sum(1, keepdim=True)
    torch.testing.assert_close(held, (1 - weight) * plain + weight * grouping, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(losses[0], topk_transition(scores, given, k=3), **EXACT)


@pytest.mark.parametrize("loss", [topk_grouping, topk_transition])
@pytest.mark.parametrize("soft", [False, True])
def test_few_classes_give_what_the_same_among_many_give(batch: Batch, loss: Loss, soft: bool) -> None:
    # 12 classes go by masks, 20 by positions; eight classes of no probability change neither value nor gradient.
    scores, labels = batch
    few, many = scores, torch.cat([scores, torch.full((40, 8), -1e4, dtype=torch.float64)], dim=1)
    given = [labels, labels]
    if soft:
        weights = scores.flip(0).softmax(1)
        given = [weights, torch.cat([weights, torch.zeros(40, 8, dtype=torch.float64)], dim=1)]
    results = []
    for each, target in zip((few, many), given, strict=True):
        leaf = each.clone().requires_grad_()
        values = loss(leaf, target, k=4)
        results.append((values, torch.autograd.grad(values.sum(), leaf)[0][:, :12]))
    torch.testing.assert_close(*results, rtol=1e-9, atol=1e-12)
