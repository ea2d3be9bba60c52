from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.focal import focal


def scores_with(probability: float) -> Tensor:
    """One row of two classes, the first with this probability."""
    return torch.tensor([[math.log(probability), math.log1p(-probability)]], dtype=torch.float64)


def test_the_weight_is_the_doubt_to_the_power_of_gamma() -> None:
    # (1 - 1/4)^2 x log 4 and (1 - 1/4)^3 x log 4
    for gamma, weight in ((2.0, 9 / 16), (3.0, 27 / 64)):
        value = focal(scores_with(1 / 4), torch.tensor([0]), gamma=gamma).item()
        assert value == pytest.approx(weight * math.log(4), rel=1e-12)


@pytest.mark.parametrize(("probability", "times"), [(0.9, 100), (0.99, 10_000)])
def test_an_easy_example_weighs_little(probability: float, times: int) -> None:
    # gamma = 2: (1 - 0.9)^2 = 1 / 100
    scores, label = scores_with(probability), torch.tensor([0])
    ratio = cross_entropy(scores, label) / focal(scores, label)
    assert ratio.item() == pytest.approx(times, rel=1e-9)


def test_gamma_of_zero_gives_cross_entropy(batch: tuple[Tensor, Tensor]) -> None:
    torch.testing.assert_close(focal(*batch, gamma=0.0), cross_entropy(*batch), rtol=1e-12, atol=1e-12)


def test_it_falls_as_gamma_rises(batch: tuple[Tensor, Tensor]) -> None:
    values = torch.stack([focal(*batch, gamma=gamma) for gamma in (0.0, 0.5, 1.0, 2.0, 5.0)])
    assert (values[1:] < values[:-1]).all()


def test_it_tends_to_cross_entropy_where_the_label_is_hopeless() -> None:
    # p = 1e-9: the weight (1 - p)^5 is 1 - 5e-9
    scores, label = scores_with(1e-9), torch.tensor([0])
    torch.testing.assert_close(focal(scores, label, gamma=5.0), cross_entropy(scores, label), rtol=1e-8, atol=0)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 5.0])
def test_its_gradient_is_that_worked_out_by_hand(gamma: float) -> None:
    # With dp/ds = p (1 - p): d/ds [-(1 - p)^g log p] = (1 - p)^g (g p log p + p - 1); the other class has its opposite.
    p = 1 / 4
    scores = scores_with(p).requires_grad_()
    focal(scores, torch.tensor([0]), gamma=gamma).sum().backward()
    expected = (1 - p) ** gamma * (gamma * p * math.log(p) + p - 1)
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([expected, -expected], rel=1e-12)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_the_gradient_is_finite_where_the_label_is_certain(gamma: float) -> None:
    scores = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    focal(scores, torch.tensor([0]), gamma=gamma).sum().backward()
    assert scores.grad is not None
    assert scores.grad.abs().max() < 1e-6
