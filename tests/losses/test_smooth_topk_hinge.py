from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.smooth_topk_hinge import smooth_topk_hinge


def all_sets(scores: Tensor, label: int, k: int, tau: float) -> Tensor:
    """Berrada et al.'s loss for one example, set by set."""
    sets = [list(chosen) for chosen in combinations(range(len(scores)), k)]
    means = torch.stack([scores[chosen].mean() for chosen in sets])
    inside = torch.tensor([label in chosen for chosen in sets])
    return tau * (((means + (~inside).double()) / tau).logsumexp(0) - (means[inside] / tau).logsumexp(0))


@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("tau", [0.05, 1.0, 10.0])
def test_it_is_the_sum_over_all_sets_in_value_and_gradient(k: int, tau: float) -> None:
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(6, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(8, (6,), generator=generator)
    expected = torch.stack([all_sets(row, label, k, tau) for row, label in zip(scores, labels.tolist(), strict=True)])
    actual = smooth_topk_hinge(scores, labels, k=k, tau=tau)
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)
    gradients = [torch.autograd.grad(values.sum(), scores)[0] for values in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (5, 2), (100, 5)])
def test_of_equal_scores_it_counts_sets(classes: int, k: int) -> None:
    # All sets weigh the same but for e^1 on those without the label, of which there are (classes - k) / k times as many
    # as with it.
    value = smooth_topk_hinge(torch.full((1, classes), 3.0, dtype=torch.float64), torch.tensor([1]), k=k).item()
    assert value == pytest.approx(math.log(1 + math.e * (classes - k) / k), rel=1e-9)


def test_with_k_and_tau_of_one_it_is_cross_entropy_with_a_margin_of_one(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    expected = cross_entropy(scores - one_hot(labels, 12), labels)
    torch.testing.assert_close(smooth_topk_hinge(scores, labels, k=1, tau=1.0), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_as_tau_tends_to_zero_it_tends_to_its_hard_form(k: int) -> None:
    generator = torch.Generator().manual_seed(3)
    scores = 3 * torch.randn(50, 10, generator=generator, dtype=torch.float64)
    labels = torch.randint(10, (50,), generator=generator)
    others = scores.scatter(1, labels[:, None], -torch.inf).sort(1, descending=True).values[:, k - 1]
    hard = (1 + (others - scores.gather(1, labels[:, None]).squeeze(1)) / k).relu()
    smooth = smooth_topk_hinge(scores, labels, k=k, tau=1e-4)
    torch.testing.assert_close(smooth, hard, rtol=0, atol=1e-3)  # tau x log of the number of sets is 5e-4


@pytest.mark.parametrize("k", [1, 3, 9])
def test_it_is_as_near_to_its_hard_form_as_there_are_few_sets(batch: tuple[Tensor, Tensor], k: int) -> None:
    # Each of the two log-sums lies between its largest term and that plus tau times the log of the number of sets.
    hard, smooth = (smooth_topk_hinge(*batch, k=k, tau=tau) for tau in (1e-6, 1.0))
    assert ((smooth - hard).abs() <= math.log(math.comb(12, k)) + 1e-4).all()


@pytest.mark.parametrize(("classes", "k"), [(300, 299), (300, 150), (1000, 40)])
def test_it_stays_finite_for_large_k_in_single_precision(classes: int, k: int) -> None:
    scores = torch.randn(4, classes, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.arange(4)
    values = smooth_topk_hinge(scores, labels, k=k)
    values.sum().backward()
    torch.testing.assert_close(values.double(), smooth_topk_hinge(scores.double(), labels, k=k), rtol=1e-4, atol=1e-5)
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_every_class_has_a_gradient_and_together_they_have_none() -> None:
    scores = torch.randn(3, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    smooth_topk_hinge(scores, torch.arange(3), k=5).sum().backward()
    assert scores.grad is not None
    assert (scores.grad != 0).all()
    torch.testing.assert_close(scores.grad.sum(1), torch.zeros(3, dtype=torch.float64), rtol=0, atol=1e-12)
