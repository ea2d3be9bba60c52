from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from setsweep.losses.single_positive import assume_negative, epr, positive_bce

LOG_2 = math.log(2)  # what a class costs whose score is 0


def zeros(rows: int, classes: int) -> tuple[Tensor, Tensor]:
    return torch.zeros(rows, classes, dtype=torch.float64, requires_grad=True), torch.zeros(rows, dtype=torch.int64)


def test_positive_bce_looks_at_the_label_alone(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    scores.requires_grad_()
    values = positive_bce(scores, labels)
    of_label = scores.detach().gather(1, labels[:, None]).squeeze(1)
    torch.testing.assert_close(values.detach(), (1 + (-of_label).exp()).log())
    values.sum().backward()
    assert scores.grad is not None
    assert torch.equal(scores.grad != 0, one_hot(labels, 12).bool())


def test_positive_bce_is_least_where_every_class_is_predicted() -> None:
    # Why it needs a regulariser, section 4.5 of the two-head paper.
    everything = torch.full((1, 5), 50.0, dtype=torch.float64)
    assert positive_bce(everything, torch.tensor([3])).item() < 1e-20


def test_the_negatives_together_weigh_as_much_as_the_label() -> None:
    # Scores of 0: log 2 for the label, and 1/3 of log 2 for each of three others; slopes of -1/2 and 1/3 of 1/2.
    scores, labels = zeros(1, 4)
    value = assume_negative(scores, labels)
    value.sum().backward()
    assert value.item() == pytest.approx(2 * LOG_2, rel=1e-12)
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([-1 / 2, 1 / 6, 1 / 6, 1 / 6], rel=1e-12)


def test_with_two_classes_assume_negative_is_binary_cross_entropy() -> None:
    scores = torch.tensor([[0.3, -1.2], [2.0, 0.5]], dtype=torch.float64)
    labels = torch.tensor([1, 0])
    targets = one_hot(labels, 2).double()
    expected = binary_cross_entropy_with_logits(scores, targets, reduction="none").sum(1)
    torch.testing.assert_close(assume_negative(scores, labels), expected, rtol=1e-12, atol=0)


def test_assume_negative_costs_more_than_positive_bce_by_what_the_negatives_cost(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    others = scores.masked_fill(one_hot(labels, 12).bool(), -torch.inf)
    negatives = (1 + others.exp()).log().sum(1) / 11
    difference = assume_negative(scores, labels) - positive_bce(scores, labels)
    torch.testing.assert_close(difference, negatives, rtol=1e-9, atol=1e-12)


def test_epr_adds_the_same_penalty_to_every_example(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    penalty = epr(scores, labels, k=3, beta=2.0) - positive_bce(scores, labels)
    expected = 2.0 * (scores.sigmoid().sum(1).mean() - 3) ** 2
    torch.testing.assert_close(penalty, expected.expand(len(labels)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("k", "penalty"), [(3, 0.0), (1, 2.0), (5, 2.0)])
def test_eprs_penalty_is_the_squared_distance_from_the_expected_size(k: int, penalty: float) -> None:
    # Six scores of 0 are three expected positives: beta (3 - k)^2 with beta = 1/2.
    values = epr(*zeros(4, 6), k=k, beta=0.5)
    assert values.tolist() == pytest.approx([LOG_2 + penalty] * 4, rel=1e-12)


def test_eprs_penalty_draws_the_sets_towards_k() -> None:
    # K = 3, k = 1, beta = 1/2: beta (K - k)^2 has slope 2 in K, and K slope 1/4 (a sigmoid's) / 4 (rows) in a score.
    scores, labels = zeros(4, 6)
    epr(scores, labels, k=1, beta=0.5).mean().backward()
    assert scores.grad is not None
    of_label = -1 / 2 / 4
    assert scores.grad[:, 1:].unique().tolist() == pytest.approx([1 / 8], rel=1e-12)
    assert scores.grad[:, 0].unique().tolist() == pytest.approx([1 / 8 + of_label], rel=1e-12)


def test_without_its_penalty_epr_is_positive_bce(batch: tuple[Tensor, Tensor]) -> None:
    assert torch.equal(epr(*batch, k=3, beta=0.0), positive_bce(*batch))


def test_each_of_several_batches_has_a_penalty_of_its_own() -> None:
    # Two rows of six scores of 0, then two of classes all but excluded: (3 - 1)^2 and (0 - 1)^2.
    scores = torch.zeros(4, 6, dtype=torch.float64)
    scores[2:] = -100.0
    values = epr(scores, torch.zeros(4, dtype=torch.int64), k=1, beta=1.0, batches=2)
    assert values.tolist() == pytest.approx([LOG_2 + 4] * 2 + [100 + 1] * 2, rel=1e-12)
