from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from setsweep.losses import build_loss
from setsweep.losses.role import role


@pytest.fixture
def loss() -> nn.Module:
    return build_loss("role", num_classes=5, k=2, num_examples=6, generator=torch.Generator().manual_seed(0))


def step(loss: nn.Module, indices: list[int]) -> None:
    scores = torch.randn(len(indices), 5, requires_grad=True)
    loss(scores, torch.zeros(len(indices), dtype=torch.int64), indices=torch.tensor(indices)).mean().backward()


def sides() -> tuple[Tensor, Tensor, Tensor]:
    """Scores and estimates (6, 5) that take a gradient, and labels."""
    generator = torch.Generator().manual_seed(1)
    scores, estimates = (torch.randn(6, 5, generator=generator, dtype=torch.float64).requires_grad_() for _ in "12")
    return scores, estimates, torch.randint(5, (6,), generator=generator)


@pytest.mark.parametrize(("k", "lam", "penalty"), [(2, 1.0, 0.0), (1, 1.0, 1 / 16), (1, 0.0, 0.0), (3, 4.0, 4 / 16)])
def test_of_scores_and_estimates_of_zero_it_is_worked_out_by_hand(k: int, lam: float, penalty: float) -> None:
    # Each side of 4 classes: a quarter of log 2 for the label and 4 log 2 against the other side; with 2 expected
    # positives, lam ((2 - k) / 4)^2. Half of both sides is one of them.
    zeros = torch.zeros(3, 4, dtype=torch.float64)
    values = role(zeros, torch.tensor([0, 1, 2]), zeros, k=k, lam=lam)
    assert values.tolist() == pytest.approx([5 * math.log(2) / 4 + penalty] * 3, rel=1e-12)


def test_both_sides_are_treated_alike() -> None:
    scores, estimates, labels = sides()
    one, other = role(scores, labels, estimates, k=2), role(estimates, labels, scores, k=2)
    torch.testing.assert_close(one, other, rtol=1e-12, atol=0)
    to_scores, to_estimates = torch.autograd.grad(one.sum(), (scores, estimates))
    again_to_estimates, again_to_scores = torch.autograd.grad(other.sum(), (estimates, scores))
    torch.testing.assert_close((to_scores, to_estimates), (again_to_scores, again_to_estimates), rtol=1e-12, atol=0)


def test_sides_that_agree_teach_each_other_nothing() -> None:
    # lam = 0: d/ds of cross-entropy against the own sigmoid is 0, so the label alone has a gradient: half of
    # -(1 - sigmoid(s)) / classes.
    scores, _, labels = sides()
    role(scores, labels, scores.detach(), k=2, lam=0.0).sum().backward()
    expected = (
        torch.zeros(6, 5, dtype=torch.float64).scatter(1, labels[:, None], -0.5 / 5) * (-scores.detach()).sigmoid()
    )
    torch.testing.assert_close(scores.grad, expected, rtol=1e-12, atol=1e-15)


def test_a_step_moves_the_estimates_of_its_batch_alone(loss: nn.Module) -> None:
    before = loss.estimates.detach().clone()
    step(loss, [4, 1])
    assert loss.estimates.grad.is_sparse
    torch.optim.SGD(loss.parameters(), lr=1.0).step()
    assert (loss.estimates != before).any(1).tolist() == [False, True, False, False, True, False]


def test_the_gradient_of_the_estimates_holds_the_rows_of_the_batch_alone(loss: nn.Module) -> None:
    step(loss, [4, 1])
    assert loss.estimates.grad.coalesce().values().shape == (2, 5)


def test_an_examples_own_label_starts_near_one_when_first_seen_and_is_then_left_to_the_optimiser(
    loss: nn.Module,
) -> None:
    step(loss, [4])
    assert loss.estimates.detach().sigmoid()[4].tolist()[0] == pytest.approx(0.995)
    with torch.no_grad():
        loss.estimates[4, 0] = 0.0
    step(loss, [4])
    assert loss.estimates[4, 0] == 0.0


def test_estimates_start_between_four_and_six_tenths(loss: nn.Module) -> None:
    start = loss.estimates.detach().sigmoid()
    assert ((start > 0.4) & (start < 0.6)).all()


def test_the_start_of_the_estimates_follows_from_the_generator(loss: nn.Module) -> None:
    def start(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return build_loss("role", num_classes=5, k=2, num_examples=6, generator=generator).estimates.detach()

    assert torch.equal(start(0), loss.estimates.detach())
    assert not torch.equal(start(1), loss.estimates.detach())


def test_estimates_are_part_of_the_state(loss: nn.Module) -> None:
    other = build_loss("role", num_classes=5, k=2, num_examples=6)
    step(loss, [2])
    other.load_state_dict(loss.state_dict())
    assert torch.equal(other.estimates, loss.estimates)
    assert torch.equal(other.seen, loss.seen)


@pytest.mark.parametrize("index", [6, -1])
def test_an_index_out_of_range_is_refused(loss: nn.Module, index: int) -> None:
    with pytest.raises(ValueError, match=rf"^indices must be between 0 and num_examples - 1 = 5, got {index}\.$"):
        loss(torch.zeros(1, 5), torch.tensor([0]), indices=torch.tensor([index]))


def test_missing_indices_are_refused(loss: nn.Module) -> None:
    with pytest.raises(ValueError, match=r"^indices must be int64 of shape \(1,\), one for each label, got None\.$"):
        loss(torch.zeros(1, 5), torch.tensor([0]))


def test_a_step_that_is_refused_leaves_no_trace(loss: nn.Module) -> None:
    before = loss.estimates.detach().clone()
    with pytest.raises(ValueError, match=r"^labels must be between"):
        loss(torch.zeros(2, 5), torch.tensor([0, 5]), indices=torch.tensor([3, 4]))
    assert torch.equal(loss.estimates.detach(), before)
    assert not loss.seen.any()
