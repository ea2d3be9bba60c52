from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from setsweep.losses.cross_entropy import cross_entropy, log_softmax

# softmax of these is 1/8, 2/8 and 5/8
EIGHTHS = torch.tensor([[1.0, 2.0, 5.0]], dtype=torch.float64).log()


def test_it_is_minus_the_logarithm_of_the_labels_probability() -> None:
    values = cross_entropy(EIGHTHS.expand(3, 3), torch.arange(3))
    torch.testing.assert_close(values, torch.tensor([8.0, 4.0, 1.6], dtype=torch.float64).log(), rtol=1e-12, atol=0)


def test_its_gradient_is_the_softmax_less_one_at_the_label() -> None:
    # Equation 4 of the two-head paper has the opposite sign and another factor: it is the gradient of the softmax.
    scores = EIGHTHS.clone().requires_grad_()
    cross_entropy(scores, torch.tensor([2])).sum().backward()
    torch.testing.assert_close(scores.grad, torch.tensor([[1 / 8, 2 / 8, 5 / 8 - 1]], dtype=torch.float64))


@pytest.mark.parametrize("classes", [4, 100])
def test_of_equal_scores_it_is_the_logarithm_of_the_number_of_classes(classes: int) -> None:
    values = cross_entropy(torch.full((1, classes), 7.0), torch.tensor([2]))
    torch.testing.assert_close(values, torch.tensor([float(classes)]).log())


def test_a_number_added_to_all_scores_of_a_row_changes_nothing(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    shifts = torch.linspace(-50, 50, len(labels), dtype=torch.float64).unsqueeze(1)
    torch.testing.assert_close(cross_entropy(scores + shifts, labels), cross_entropy(scores, labels))


@pytest.mark.parametrize("classes", [6, 40])
def test_it_is_torchs_own_for_hard_and_for_soft_labels(classes: int) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(9, classes, dtype=torch.float64, generator=generator)
    hard = torch.randint(classes, (9,), generator=generator)
    soft = torch.rand(9, classes, dtype=torch.float64, generator=generator)
    for labels in (hard, soft / soft.sum(1, keepdim=True)):
        expected = functional.cross_entropy(scores, labels, reduction="none")
        torch.testing.assert_close(cross_entropy(scores, labels), expected, rtol=1e-12, atol=1e-12)


def test_a_soft_label_is_worth_the_mean_of_its_classes(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    other = (labels + 1) % 12
    soft = torch.zeros_like(scores).scatter(1, labels[:, None], 0.3).scatter(1, other[:, None], 0.7)
    mixed = 0.3 * cross_entropy(scores, labels) + 0.7 * cross_entropy(scores, other)
    torch.testing.assert_close(cross_entropy(scores, soft), mixed, rtol=1e-12, atol=1e-12)


def test_soft_labels_that_are_the_models_own_leave_nothing_to_learn() -> None:
    # Sawada equation 4: the distance to the target is 0 then, and what is left is the target's entropy.
    scores = EIGHTHS.clone().requires_grad_()
    own = torch.tensor([[1 / 8, 2 / 8, 5 / 8]], dtype=torch.float64)
    value = cross_entropy(scores, own).sum()
    value.backward()
    entropy = -(own * own.log()).sum()
    torch.testing.assert_close(value.detach(), entropy, rtol=1e-12, atol=0)
    torch.testing.assert_close(scores.grad, torch.zeros(1, 3, dtype=torch.float64), rtol=0, atol=1e-15)


@pytest.mark.parametrize("classes", [6, 40])
def test_log_softmax_is_torchs_own_for_few_and_for_many_classes(classes: int) -> None:
    scores = torch.randn(5, classes, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(log_softmax(scores), scores.log_softmax(1), rtol=1e-12, atol=1e-12)
