from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.noised_topk_hinge import noised_imbalanced_topk_hinge, noised_topk_hinge
from setsweep.losses.topk_hinge import calibrated_topk_hinge

Batch = tuple[Tensor, Tensor]


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=draws(3), dtype=torch.float64)


def test_the_papers_worked_example_with_a_margin() -> None:
    # Section 3.2, where the smoothed second score is (2.5 + 2.5 + 2.4) / 3: with k = 1 it is the next after the top k.
    scores = torch.tensor([[2.4, 2.6, 2.3, 0.5]], dtype=torch.float64).expand(4, 4)
    noise = torch.tensor([[0.2, -0.1, 0.1, 0.3], [0.1, 0.1, -0.1, 0.1], [-0.1, -0.1, 0.1, -0.1]], dtype=torch.float64)
    values = noised_topk_hinge(scores, torch.arange(4), k=1, epsilon=1.0, noise=noise.expand(4, 3, 4))
    expected = [1 + 7.4 / 3 - own for own in (2.4, 2.6, 2.3, 0.5)]
    assert values.tolist() == pytest.approx(expected, rel=1e-12)


def test_without_noise_the_balanced_loss_is_the_calibrated_hinge(batch: Batch) -> None:
    noised = noised_topk_hinge(*batch, k=3, epsilon=0.0)
    torch.testing.assert_close(noised, calibrated_topk_hinge(*batch, k=3), rtol=0, atol=1e-13)


def test_as_epsilon_tends_to_zero_it_tends_to_the_calibrated_hinge(batch: Batch) -> None:
    noise = normal(40, 6, 12)
    for epsilon in (1e-2, 1e-4, 1e-8):
        difference = noised_topk_hinge(*batch, k=3, epsilon=epsilon, noise=noise) - calibrated_topk_hinge(*batch, k=3)
        assert (difference.abs() <= epsilon * noise.abs().max()).all()  # no k-th score moves further than its noise


def test_a_draw_more_is_a_term_more_of_the_mean() -> None:
    scores, labels, noise = normal(5, 9), torch.arange(5), normal(5, 4, 9)
    scores[torch.arange(5), labels] = -9.0  # so that no value is 0
    together = noised_topk_hinge(scores, labels, k=2, epsilon=0.5, noise=noise)
    each = [noised_topk_hinge(scores, labels, k=2, epsilon=0.5, noise=noise[:, one : one + 1]) for one in range(4)]
    torch.testing.assert_close(together, torch.stack(each).mean(0), rtol=1e-12, atol=0)


def test_the_number_of_gradient_coordinates_grows_with_epsilon_up_to_one_a_draw_and_the_label() -> None:
    # Figure 2 of the paper: 3 draws, 100 classes; two coordinates without noise, at most four with any.
    scores = torch.randn(200, 100, generator=draws())
    labels = scores.argmin(1)  # every example costs something
    counts = []
    for epsilon in (0.0, 1e-2, 1e-1, 1.0, 100.0):
        leaf = scores.clone().requires_grad_()
        noised_topk_hinge(leaf, labels, k=5, epsilon=epsilon, num_samples=3, generator=draws(2)).sum().backward()
        assert leaf.grad is not None
        counts.append((leaf.grad != 0).sum(1).double().mean().item())
    assert counts[0] == 2
    assert counts == sorted(counts)
    assert 3.8 < counts[-1] <= 4


def test_at_the_kink_the_gradient_is_zero() -> None:
    # 1 + 1 - 2 = 0, where equation 12 would have a gradient.
    scores = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
    value = noised_topk_hinge(scores, torch.tensor([0]), k=1, epsilon=0.0)
    value.sum().backward()
    assert value.item() == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scores_of_ten_thousand_take_drawn_noise(dtype: torch.dtype) -> None:
    scores = (1e4 * torch.randn(64, 1081, generator=draws()).clamp(-1, 1)).to(dtype).requires_grad_()
    values = noised_topk_hinge(scores, torch.arange(64), k=5, generator=draws())
    values.sum().backward()
    assert values.dtype == torch.float32
    assert values.isfinite().all()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_noise_comes_from_the_generator_given() -> None:
    def drawn(seed: int) -> Tensor:
        loss = build_loss("noised_topk_hinge", num_classes=9, k=2, generator=draws(seed))
        values: Tensor = loss(torch.zeros(4, 9), torch.zeros(4, dtype=torch.int64))
        return values

    assert torch.equal(drawn(3), drawn(3))
    assert not torch.equal(drawn(3), drawn(4))


def test_the_imbalanced_loss_wants_rarer_classes_to_win_by_more() -> None:
    loss = build_loss("noised_imbalanced_topk_hinge", num_classes=4, k=1, class_counts=[1, 16, 16, 16], epsilon=0.0)
    scores = torch.tensor([[0.5, 0.4, 0.0, 0.0], [0.4, 0.5, 0.0, 0.0]])
    values = loss(scores, torch.tensor([0, 1]))
    # 60 x (0.2 - 0.1) for the class seen once, 60 x (0.1 - 0.1) for that seen 16 times
    torch.testing.assert_close(values, torch.tensor([6.0, 0.0]), rtol=0, atol=1e-5)


def test_with_a_margin_of_one_and_no_scale_the_imbalanced_loss_is_the_balanced_one(batch: Batch) -> None:
    settings: dict[str, Any] = {"k": 3, "epsilon": 0.5, "noise": normal(40, 4, 12)}
    imbalanced = noised_imbalanced_topk_hinge(*batch, torch.ones(12), scale=1.0, **settings)
    torch.testing.assert_close(imbalanced, noised_topk_hinge(*batch, **settings), rtol=1e-12, atol=1e-12)


def test_the_scale_multiplies_all_of_it_margin_and_noise_included(batch: Batch) -> None:
    # The published code; equation 13 on scores that are scaled first would leave margin and noise as they are.
    margins = torch.linspace(0.1, 0.5, 12)
    settings: dict[str, Any] = {"k": 3, "epsilon": 0.5, "noise": normal(40, 4, 12)}
    one, sixty = (noised_imbalanced_topk_hinge(*batch, margins, scale=scale, **settings) for scale in (1.0, 60.0))
    torch.testing.assert_close(sixty, 60 * one, rtol=1e-12, atol=0)
