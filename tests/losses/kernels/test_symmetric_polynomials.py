from __future__ import annotations

from itertools import combinations

import pytest
import torch

from setsweep.losses.kernels import symmetric_polynomials as set_odds
from setsweep.losses.kernels.selection import kth_largest_score
from setsweep.losses.kernels.symmetric_polynomials import _log_odds_by_products, _log_odds_by_scans


def random_scores(rows, classes, scale=1.0):
    generator = torch.Generator().manual_seed(classes)
    scores = scale * torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    scores[:, 2] = -torch.inf
    return scores.requires_grad_()


def over_sets(row, k):
    """Log of the sum over all sets of k, set by set."""
    return torch.stack([row[list(chosen)].sum() for chosen in combinations(range(len(row)), k)]).logsumexp(0)


@pytest.mark.parametrize("way", [_log_odds_by_products, _log_odds_by_scans])
@pytest.mark.parametrize("k", [1, 2, 5, 7])
def test_the_log_odds_are_those_of_the_sums_over_all_sets_in_value_and_gradient(way, k):
    scores = random_scores(4, 8)
    expected = torch.stack([over_sets(row, k) - over_sets(row, k - 1) for row in scores])
    actual = way(scores, k)
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)
    finite = scores.isfinite()  # the sums' gradient is NaN at a class without sets
    gradients = [torch.autograd.grad(values.sum(), scores)[0][finite] for values in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize(("classes", "k"), [(100, 5), (300, 150), (1000, 40)])
def test_scans_give_what_products_give(classes, k, scale):
    scores = random_scores(3, classes, scale)
    results = []
    for way, centred_at in ((_log_odds_by_products, set_odds._balance), (_log_odds_by_scans, kth_largest_score)):
        centre = centred_at(scores.detach(), k)
        values = way(scores - centre.unsqueeze(1), k) + centre
        results.append((values, *torch.autograd.grad(values.sum(), scores)))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_rows_are_scanned_in_parts_where_memory_asks_for_it(monkeypatch):
    scores = random_scores(7, 20)
    whole = _log_odds_by_scans(scores, 3)
    monkeypatch.setattr(set_odds, "CHUNK", 2 * 2 * 3 * 20)
    parts = _log_odds_by_scans(scores, 3)
    assert torch.equal(parts, whole)
    assert torch.equal(*(torch.autograd.grad(values.sum(), scores)[0] for values in (parts, whole)))


def test_scans_take_vmap_compile_and_large_scores_in_single_precision():
    stack = torch.stack([random_scores(4, 9).detach(), random_scores(4, 9).detach().flip(0)])
    mapped = torch.func.vmap(torch.func.grad(lambda one: _log_odds_by_scans(one, 3).sum()))(stack)
    looped = torch.stack([torch.func.grad(lambda one: _log_odds_by_scans(one, 3).sum())(one) for one in stack])
    torch.testing.assert_close(mapped, looped)
    compiled = torch.compile(lambda one: _log_odds_by_scans(one, 3), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(stack[0]), _log_odds_by_scans(stack[0], 3))
    large = (1e4 * stack[0]).float().requires_grad_()
    values = _log_odds_by_scans(large, 3)
    values.sum().backward()
    torch.testing.assert_close(values.double(), _log_odds_by_scans(large.detach().double(), 3), rtol=1e-6, atol=0)
    assert large.grad.isfinite().all()
