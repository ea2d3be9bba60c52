from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.conftr import FLOOR, conftr, smooth_quantile
from setsweep.losses.cross_entropy import log_softmax


@pytest.fixture
def values() -> Tensor:
    """Two rows of 9 numbers, no two nearer than 0.003."""
    return torch.randn(2, 9, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


@pytest.mark.parametrize(
    ("level", "below", "above"), [(0.0, 0, 0), (0.01, 0, 1), (0.45, 4, 4), (0.5, 4, 5), (1.0, 8, 8)]
)
def test_the_quantile_tends_to_the_mean_of_its_order_statistics(
    values: Tensor, level: float, below: int, above: int
) -> None:
    # Places level x (1 + 1/9) x 8, counted from 0: 0, 0.09, 4, 4.4, and 8.9, of which 8 is the last.
    ordered = values.sort(1).values
    expected = (ordered[:, below] + ordered[:, above]) / 2
    torch.testing.assert_close(smooth_quantile(values, level, dispersion=1e-5), expected, rtol=0, atol=1e-9)


def test_the_quantile_tends_to_the_mean_as_its_dispersion_grows(values: Tensor) -> None:
    torch.testing.assert_close(smooth_quantile(values, 0.2, dispersion=1e9), values.mean(1), rtol=0, atol=1e-7)


def test_a_quantile_of_two_values_by_hand() -> None:
    # Level 0.1 of 2 values is at place 0.15: the mean of both smoothed statistics, which are 1/(1+e) and e/(1+e) of the
    # way from 0 to 1 at dispersion 1, so 1/2.
    assert smooth_quantile(torch.tensor([[1.0, 0.0]]), 0.1, dispersion=1.0).item() == pytest.approx(0.5)
    # Level 0 is the lower one alone: weights 1 and 1/e.
    lower = smooth_quantile(torch.tensor([[1.0, 0.0]]), 0.0, dispersion=1.0).item()
    assert lower == pytest.approx(1 / (1 + math.e), rel=1e-6)


def test_four_examples_by_hand() -> None:
    # Two classes. The first half, with log-probability log(1/2) each, calibrates: threshold log(1/2). In the other half
    # the label has 3/4 and 1/4: C = sigmoid(log 1.5) = 0.6 and sigmoid(log 0.5) = 1/3 at temperature 1, for the right
    # class first, then for the wrong one. L = 0.4 and 2/3; Omega = max(0, 0.6 + 1/3 - 1/2) = 13/30 for both.
    scores = torch.tensor([[0.0, 0.0], [0.0, 0.0], [math.log(3), 0.0], [math.log(3), 0.0]], dtype=torch.float64)
    values = conftr(scores, torch.tensor([0, 1, 0, 1]), alpha=0.1, weight=0.3, kappa=0.5)
    expected = math.log((0.4 + 2 / 3) / 2 + 0.3 * 13 / 30 + FLOOR)
    assert values.tolist() == pytest.approx([expected] * 4, rel=1e-9)


def test_the_order_within_each_half_does_not_matter_and_which_half_does(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    within = torch.cat([torch.arange(20).flip(0), torch.arange(20, 40).roll(3)])
    across = torch.arange(40).roll(20)
    before = conftr(scores, labels)[0]
    torch.testing.assert_close(conftr(scores[within], labels[within])[0], before, rtol=1e-9, atol=1e-12)
    assert not torch.isclose(conftr(scores[across], labels[across])[0], before)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_small_and_odd_batches_have_values(batch: tuple[Tensor, Tensor], size: int) -> None:
    scores, labels = batch[0][:size].clone().requires_grad_(), batch[1][:size]
    values = conftr(scores, labels)
    values.mean().backward()
    assert values.shape == (size,)
    assert values.isfinite().all()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_examples_of_both_halves_learn(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch[0].clone().requires_grad_(), batch[1]
    conftr(scores, labels, alpha=0.2).mean().backward()
    assert scores.grad is not None
    assert (scores.grad[:20].abs().sum(1) > 0).sum() > 1  # those near the quantile
    assert (scores.grad[20:].abs().sum(1) > 0).all()


def test_a_shift_of_an_examples_scores_changes_nothing(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    shifted = scores + torch.linspace(-5, 5, 40, dtype=torch.float64).unsqueeze(1)
    torch.testing.assert_close(conftr(shifted, labels), conftr(scores, labels), rtol=1e-9, atol=1e-12)


def test_without_size_loss_and_with_a_sharp_edge_it_is_the_logarithm_of_the_share_missed(
    batch: tuple[Tensor, Tensor],
) -> None:
    scores, labels = batch
    own = log_softmax(scores).gather(1, labels.unsqueeze(1)).squeeze(1)
    threshold = smooth_quantile(own[None, :20], 0.3, dispersion=1e-4)
    missed = (own[20:] < threshold).double().mean()
    assert 0 < missed < 1
    value = conftr(scores, labels, alpha=0.3, weight=0.0, temperature=1e-6, dispersion=1e-4)[0]
    assert value.item() == pytest.approx(math.log(missed + FLOOR), rel=1e-6)


def test_gradient_descent_makes_the_sets_smaller_at_the_same_coverage() -> None:
    # 600 points of 4 classes around 4 corners, one linear layer, 400 full batches from zero (seed 3). A set is what is
    # above the quantile of the other half; alpha = 0.1.
    generator = torch.Generator().manual_seed(3)
    labels = torch.randint(4, (600,), generator=generator)
    corners = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    inputs = corners[labels] + 0.7 * torch.randn(600, 2, generator=generator)
    weight = torch.zeros(2, 4, requires_grad=True)
    loss = build_loss("conftr", num_classes=4, alpha=0.1, weight=0.5)
    optimizer = torch.optim.SGD([weight], lr=0.5)

    def sizes() -> tuple[float, float]:
        log_probabilities = log_softmax(inputs @ weight.detach())
        own = log_probabilities.gather(1, labels.unsqueeze(1)).squeeze(1)
        sets = log_probabilities[300:] >= own[:300].quantile(0.1) - 1e-6
        return sets.sum(1).double().mean().item(), sets.gather(1, labels[300:, None]).double().mean().item()

    before, _ = sizes()
    for _ in range(400):
        optimizer.zero_grad()
        loss(inputs @ weight, labels).mean().backward()
        optimizer.step()
    after, coverage = sizes()
    assert before == 4
    assert after < 1.6
    assert coverage > 0.85
