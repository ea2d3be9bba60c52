from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from setsweep.losses.topk_hinge import calibrated_topk_hinge, convex_topk_hinge, topk_hinge

SCORES = torch.tensor([[3.0, 2.0, 1.0, 0.0]]).expand(4, 4)  # each class is the label of one row
LABELS = torch.arange(4)
Loss = Callable[..., Tensor]


def test_plain_by_hand() -> None:
    # k = 2. Second of the others: 1, 1, 2, 2. So 1 + 1 - 3 < 0, 1 + 1 - 2, 1 + 2 - 1, 1 + 2 - 0.
    assert topk_hinge(SCORES, LABELS, k=2).tolist() == [0, 0, 2, 3]


def test_convexified_by_hand() -> None:
    # k = 2. Scores with the margin on all but the label: (3, 3, 2, 1), (4, 2, 2, 1), (4, 3, 1, 1), (4, 3, 2, 0).
    # Means of the two largest: 3, 3, 3.5, 3.5.
    assert convex_topk_hinge(SCORES, LABELS, k=2).tolist() == [0, 1, 2.5, 3.5]


def test_calibrated_by_hand() -> None:
    # k = 2. Third of all scores: 1. So 1 + 1 - 3 < 0, 1 + 1 - 2, 1 + 1 - 1, 1 + 1 - 0.
    assert calibrated_topk_hinge(SCORES, LABELS, k=2).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("k", [1, 3, 11])
def test_the_convexified_loss_bounds_the_plain_one(batch: tuple[Tensor, Tensor], k: int) -> None:
    assert (convex_topk_hinge(*batch, k=k) >= topk_hinge(*batch, k=k) - 1e-12).all()


@pytest.mark.parametrize("k", [1, 3])
def test_the_calibrated_loss_never_exceeds_the_plain_one(batch: tuple[Tensor, Tensor], k: int) -> None:
    assert (calibrated_topk_hinge(*batch, k=k) <= topk_hinge(*batch, k=k) + 1e-12).all()


@pytest.mark.parametrize("loss", [topk_hinge, convex_topk_hinge, calibrated_topk_hinge])
@pytest.mark.parametrize("k", [1, 3])
def test_a_label_outside_the_top_k_costs_at_least_one(batch: tuple[Tensor, Tensor], loss: Loss, k: int) -> None:
    scores, labels = batch
    wrong = (scores > scores.gather(1, labels[:, None])).sum(1) >= k
    assert 0 < wrong.sum() < len(wrong)
    assert (loss(scores, labels, k=k)[wrong] >= 1 - 1e-12).all()


def test_with_k_of_one_plain_and_convexified_are_the_multiclass_hinge(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    own = labels[:, None]
    best_other = scores.scatter(1, own, -torch.inf).amax(1)
    expected = (1 + best_other - scores.gather(1, own).squeeze(1)).clamp_min(0)
    torch.testing.assert_close(topk_hinge(scores, labels, k=1), expected)
    torch.testing.assert_close(convex_topk_hinge(scores, labels, k=1), expected)


def test_the_convexified_loss_is_convex_and_the_plain_one_is_not(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    other = scores.flip(0)
    between = convex_topk_hinge((scores + other) / 2, labels, k=3)
    ends = (convex_topk_hinge(scores, labels, k=3) + convex_topk_hinge(other, labels, k=3)) / 2
    assert (between <= ends + 1e-12).all()
    # The second of the others is 0 at both ends and 1 in the middle.
    one, two, label = torch.tensor([[0.0, 2.0, 0.0]]), torch.tensor([[0.0, 0.0, 2.0]]), torch.tensor([0])
    assert topk_hinge(one, label, k=2) == topk_hinge(two, label, k=2) == 1
    assert topk_hinge((one + two) / 2, label, k=2) == 2


@pytest.mark.parametrize(
    ("loss", "gradient"),
    [
        (topk_hinge, [0, 1, 0, -1]),  # the second of the others
        (convex_topk_hinge, [1 / 2, 1 / 2, 0, -1]),  # the two largest
        (calibrated_topk_hinge, [0, 0, 1, -1]),  # the third of all
    ],
)
def test_the_gradient_lies_on_the_label_and_on_few_others(loss: Loss, gradient: list[float]) -> None:
    scores = SCORES[:1].clone().requires_grad_()
    loss(scores, torch.tensor([3]), k=2).sum().backward()
    assert scores.grad is not None
    assert scores.grad[0].tolist() == gradient


def test_a_label_that_is_the_next_after_the_top_k_gives_the_calibrated_loss_no_gradient() -> None:
    scores = SCORES[:1].clone().requires_grad_()
    value = calibrated_topk_hinge(scores, torch.tensor([2]), k=2)  # 1 + its own score - its score
    value.sum().backward()
    assert value.item() == 1
    assert scores.grad is not None
    assert scores.grad[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("loss", [topk_hinge, convex_topk_hinge, calibrated_topk_hinge])
def test_equal_scores_share_the_gradient_out_once(loss: Loss) -> None:
    scores = torch.zeros(1, 6, requires_grad=True)
    value = loss(scores, torch.tensor([2]), k=3)
    value.sum().backward()
    assert value.item() == 1
    assert scores.grad is not None
    assert scores.grad.sum().item() == pytest.approx(0, abs=1e-6)
    assert scores.grad.clamp_min(0).sum().item() <= 1 + 1e-6
