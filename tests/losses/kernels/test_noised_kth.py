"""The smoothed k-th largest score: theorems and example of the noised paper, and how its noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from setsweep.losses.kernels import noised_kth
from setsweep.losses.kernels.noised_kth import smoothed_kth_largest

Golden = Callable[[str], list[tuple[dict[str, Any], dict[str, Tensor]]]]


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_papers_worked_example() -> None:
    # Section 3.2: the second of (2.6, 2.5, 2.4, 0.8), (2.5, 2.7, 2.2, 0.6) and (2.3, 2.5, 2.4, 0.4).
    scores = torch.tensor([[2.4, 2.6, 2.3, 0.5]], dtype=torch.float64, requires_grad=True)
    noise = torch.tensor([[[0.2, -0.1, 0.1, 0.3], [0.1, 0.1, -0.1, 0.1], [-0.1, -0.1, 0.1, -0.1]]])
    top = smoothed_kth_largest(scores, 2, epsilon=1.0, num_samples=3, noise=noise)
    (gradient,) = torch.autograd.grad(top.sum(), scores)
    assert top.item() == pytest.approx((2.5 + 2.5 + 2.4) / 3, abs=1e-7)
    assert gradient[0].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_values_and_gradients_are_the_golden_ones(golden: Golden) -> None:
    compared = 0
    for case, arrays in golden("noised_topk_hinge"):
        for k, name in ((case["K"], "K"), (case["K"] + 1, "Kp1")):
            if f"top_hat_{name}" not in arrays:
                continue
            scores = arrays["logits"].clone().requires_grad_()
            noise = arrays["Z"].transpose(1, 2)
            top = smoothed_kth_largest(
                scores, k, epsilon=case["params"]["epsilon"], num_samples=noise.shape[1], noise=noise
            )
            torch.testing.assert_close(top, arrays[f"top_hat_{name}"], rtol=1e-9, atol=1e-12)
            (gradient,) = torch.autograd.grad(top.sum(), scores)
            defined = arrays["grad_defined"]
            expected = arrays[f"argtop_hat_{name}"]
            torch.testing.assert_close(gradient[defined], expected[defined], rtol=1e-9, atol=1e-12)
            compared += int(defined.any())
    assert compared > 10


@pytest.mark.parametrize("k", [1, 3, 9])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 20.0])
def test_gradients_lie_between_zero_and_one_and_sum_to_one(k: int, epsilon: float) -> None:
    scores = torch.randn(20, 60, generator=draws(), dtype=torch.float64, requires_grad=True)
    smoothed_kth_largest(scores, k, epsilon=epsilon, num_samples=7, generator=draws(1)).sum().backward()
    assert scores.grad is not None
    assert ((scores.grad >= 0) & (scores.grad <= 1)).all()
    torch.testing.assert_close(scores.grad.sum(1), torch.ones(20, dtype=torch.float64))


@pytest.mark.parametrize("k", [1, 4])
def test_the_smoothed_value_stays_within_the_papers_bound_and_tends_to_the_kth_score(k: int) -> None:
    # Proposition 3.5 is on the mean over all draws; 2,000 draws err by 0.03 epsilon, the bound is over 2 epsilon.
    scores = torch.randn(10, 30, generator=draws(), dtype=torch.float64)
    exact = scores.sort(1, descending=True).values[:, k - 1]
    for epsilon in (1e-6, 1e-3, 0.1, 1.0):
        top = smoothed_kth_largest(scores, k, epsilon=epsilon, num_samples=2000, generator=draws(1))
        assert ((top - exact).abs() <= epsilon * k * math.sqrt(2 * math.log(30))).all()


def test_where_noise_dwarfs_the_scores_it_is_the_mean_order_statistic_of_the_noise() -> None:
    # The third largest of 100 standard normals is 1.94 on average: Phi^-1(1 - (3 - 0.375) / 100.25), Blom's rule. The
    # mean of 4,000 draws, each with a deviation of 0.25, errs by 0.004; the scores, a tenth of the noise, by some 0.01.
    scores = torch.randn(4, 100, generator=draws())
    top = smoothed_kth_largest(scores, 3, epsilon=10.0, num_samples=4000, generator=draws(1))
    assert (top / 10 - 1.94).abs().max() < 0.05


@pytest.mark.parametrize("k", [1, 4, 12])
def test_without_noise_it_is_the_kth_largest_score_itself(k: int) -> None:
    scores = torch.randn(9, 12, generator=draws(), dtype=torch.float64, requires_grad=True)
    top = smoothed_kth_largest(scores, k, epsilon=0.0, num_samples=5)
    (gradient,) = torch.autograd.grad(top.sum(), scores)
    ordered = scores.detach().sort(1, descending=True)
    torch.testing.assert_close(top.detach(), ordered.values[:, k - 1])
    assert torch.equal(gradient.argmax(1), ordered.indices[:, k - 1])
    assert torch.equal(gradient.sum(1), torch.ones(9, dtype=torch.float64))


@pytest.mark.parametrize(("epsilon", "drawn"), [(0.0, False), (0.1, True)])
def test_without_noise_nothing_is_drawn(epsilon: float, drawn: bool) -> None:
    generator = draws()
    smoothed_kth_largest(torch.zeros(2, 6), 3, epsilon=epsilon, num_samples=5, generator=generator)
    assert torch.equal(generator.get_state(), draws().get_state()) != drawn


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_the_score_of_a_class_can_be_subtracted_gradient_and_all(epsilon: float) -> None:
    scores = torch.randn(6, 50, generator=draws(), dtype=torch.float64, requires_grad=True)
    labels = torch.arange(6)
    lead, top = (
        smoothed_kth_largest(scores, 4, epsilon=epsilon, num_samples=3, generator=draws(1), less=less)
        for less in (labels, None)
    )
    expected = top - scores[torch.arange(6), labels]
    torch.testing.assert_close(lead, expected, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(values.sum(), scores)[0] for values in (lead, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("classes", [10, 100, 1000])
@pytest.mark.parametrize("samples", [5, 200])
def test_a_nan_score_gives_nan_to_its_row_alone_where_noise_is_drawn(classes: int, samples: int) -> None:
    scores = torch.randn(30, classes, generator=draws())
    scores[7, 3] = torch.nan
    top = smoothed_kth_largest(scores, 2, epsilon=0.1, num_samples=samples, generator=draws())
    assert top.isnan().nonzero().flatten().tolist() == [7]


@pytest.mark.parametrize("classes", [100, 1000])
def test_an_infinite_score_spoils_its_row_alone(classes: int) -> None:
    scores = torch.randn(200, classes, generator=draws())
    scores[7, :20] = torch.inf
    scores[8] = -torch.inf
    top = smoothed_kth_largest(scores, 5, epsilon=1e-30, num_samples=10, generator=draws())
    rows = [row for row in range(200) if row not in (7, 8)]
    torch.testing.assert_close(top[rows], scores[rows].sort(1).values[:, -5])


def test_noise_is_drawn_within_the_transforms_of_torch_func_too() -> None:
    scores = torch.randn(30, 1000, generator=draws(), dtype=torch.float64)
    gradient = torch.func.grad(
        lambda given: smoothed_kth_largest(given, 5, epsilon=0.2, num_samples=10, generator=draws()).sum()
    )(scores)
    torch.testing.assert_close(gradient.sum(1), torch.ones(30, dtype=torch.float64))


def test_rows_drawn_in_parts_follow_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # The means of 20,000 draws, each with a deviation of 0.26, differ by 0.0026 in standard error.
    scores = torch.zeros(50, 40)
    whole = smoothed_kth_largest(scores, 5, epsilon=1.0, num_samples=400, generator=draws(1))
    monkeypatch.setattr(noised_kth, "CHUNK", 16_000)  # one row of 400 x 40
    parts = smoothed_kth_largest(scores, 5, epsilon=1.0, num_samples=400, generator=draws(2))
    assert abs(whole.mean() - parts.mean()) < 0.02


def test_rows_drawn_in_parts_have_noise_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noised_kth, "CHUNK", 1)
    top = smoothed_kth_largest(torch.zeros(50, 40), 5, epsilon=1.0, num_samples=3, generator=draws())
    assert len(top.unique()) == 50


def test_noise_of_another_shape_is_refused() -> None:
    said = r"^noise must have shape \(batch, num_samples, classes\) = \(2, 10, 6\), got \(2, 6, 10\)\.$"
    with pytest.raises(ValueError, match=said):
        smoothed_kth_largest(torch.zeros(2, 6), 3, epsilon=0.1, num_samples=10, noise=torch.zeros(2, 6, 10))


def test_a_class_to_subtract_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^labels must be between 0 and num_classes - 1 = 5, got 6\.$"):
        smoothed_kth_largest(torch.zeros(2, 6), 3, epsilon=0.1, num_samples=4, less=torch.tensor([0, 6]))
