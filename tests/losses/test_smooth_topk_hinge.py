from __future__ import annotations

from itertools import combinations

import pytest
import torch

from setsweep.losses import build_loss


def all_sets(scores, label, k, tau):
    """Berrada et al.'s loss for one example, set by set."""
    sets = [list(chosen) for chosen in combinations(range(len(scores)), k)]
    means = torch.stack([scores[chosen].mean() for chosen in sets])
    inside = torch.tensor([label in chosen for chosen in sets])
    return tau * (((means + (~inside).double()) / tau).logsumexp(0) - (means[inside] / tau).logsumexp(0))


@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("tau", [0.05, 1.0, 10.0])
def test_it_is_the_sum_over_all_sets_in_value_and_gradient(k, tau):
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(6, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(8, (6,), generator=generator)
    expected = torch.stack([all_sets(row, label, k, tau) for row, label in zip(scores, labels.tolist(), strict=True)])
    actual = build_loss("smooth_topk_hinge", num_classes=8, k=k, tau=tau)(scores, labels)
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)
    gradients = [torch.autograd.grad(values.sum(), scores)[0] for values in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_as_tau_tends_to_zero_it_tends_to_its_hard_form(k):
    generator = torch.Generator().manual_seed(3)
    scores = 3 * torch.randn(50, 10, generator=generator, dtype=torch.float64)
    labels = torch.randint(10, (50,), generator=generator)
    others = scores.scatter(1, labels[:, None], -torch.inf).sort(1, descending=True).values[:, k - 1]
    hard = (1 + (others - scores.gather(1, labels[:, None]).squeeze(1)) / k).relu()
    smooth = build_loss("smooth_topk_hinge", num_classes=10, k=k, tau=1e-4)(scores, labels)
    torch.testing.assert_close(smooth, hard, rtol=0, atol=1e-3)  # tau x log of the number of sets is 5e-4


@pytest.mark.parametrize(("classes", "k"), [(300, 299), (300, 150), (1000, 40)])
def test_it_stays_finite_for_large_k_in_single_precision(classes, k):
    scores = torch.randn(4, classes, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.arange(4)
    loss = build_loss("smooth_topk_hinge", num_classes=classes, k=k)
    values = loss(scores, labels)
    values.sum().backward()
    torch.testing.assert_close(values.double(), loss(scores.double(), labels), rtol=1e-4, atol=1e-5)
    assert scores.grad.isfinite().all()


def test_every_class_has_a_gradient():
    scores = torch.randn(3, 20, requires_grad=True)
    build_loss("smooth_topk_hinge", num_classes=20, k=5)(scores, torch.arange(3)).sum().backward()
    assert (scores.grad != 0).all()
