"""Sums over sets of classes, in both ways, against the sets one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
import torch
from torch import Tensor

from setsweep.losses.kernels import symmetric_polynomials
from setsweep.losses.kernels.selection import kth_largest_score
from setsweep.losses.kernels.symmetric_polynomials import (
    _balance,
    _log_odds_by_products,
    _log_odds_by_scans,
    _product,
    log_set_odds,
)

Way = Callable[[Tensor, int], Tensor]


def random_scores(rows: int, classes: int, scale: float = 1.0) -> Tensor:
    """Of which one class is in no set."""
    generator = torch.Generator().manual_seed(classes)
    scores = scale * torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    scores[:, 2] = -torch.inf
    return scores.requires_grad_()


def over_sets(row: Tensor, k: int) -> Tensor:
    """Log of the sum over all sets of k, set by set."""
    return torch.stack([row[list(chosen)].sum() for chosen in combinations(range(len(row)), k)]).logsumexp(0)


@pytest.mark.parametrize("way", [_log_odds_by_products, _log_odds_by_scans])
@pytest.mark.parametrize("k", [1, 2, 5, 7])
def test_the_log_odds_are_those_of_the_sums_over_all_sets_in_value_and_gradient(way: Way, k: int) -> None:
    scores = random_scores(4, 8)
    expected = torch.stack([over_sets(row, k) - over_sets(row, k - 1) for row in scores])
    actual = way(scores, k)
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)
    finite = scores.isfinite()  # the sums' gradient is NaN at a class without sets
    gradients = [torch.autograd.grad(values.sum(), scores)[0][finite] for values in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("way", [_log_odds_by_products, _log_odds_by_scans])
@pytest.mark.parametrize(("classes", "k"), [(1, 1), (2, 1), (9, 4), (9, 9), (100, 5)])
def test_of_equal_scores_the_odds_are_those_of_the_numbers_of_sets(way: Way, classes: int, k: int) -> None:
    # binomial(n, k) / binomial(n, k - 1) = (n - k + 1) / k
    odds = way(torch.zeros(1, classes, dtype=torch.float64), k).exp().item()
    assert odds == pytest.approx((classes - k + 1) / k, rel=1e-10)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize(("classes", "k"), [(100, 5), (300, 150), (1000, 40)])
def test_scans_give_what_products_give(classes: int, k: int, scale: float) -> None:
    scores = random_scores(3, classes, scale)
    results = []
    for way, centred_at in ((_log_odds_by_products, _balance), (_log_odds_by_scans, kth_largest_score)):
        centre = centred_at(scores.detach(), k)
        values = way(scores - centre.unsqueeze(1), k) + centre
        results.append((values, *torch.autograd.grad(values.sum(), scores)))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_two_terms_add_up_to_the_log_odds_and_the_first_has_the_gradient(k: int) -> None:
    scores = random_scores(4, 8)
    first, second = log_set_odds(scores, k)
    expected = torch.stack([over_sets(row, k) - over_sets(row, k - 1) for row in scores])
    torch.testing.assert_close(first + second, expected, rtol=1e-10, atol=1e-12)
    assert not second.requires_grad
    assert first.requires_grad


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_large_scores_neither_overflow_nor_lose_what_tells_them_apart(shift: float) -> None:
    scores = random_scores(3, 20)
    first, second = log_set_odds(scores, 4)
    shifted, far = log_set_odds(scores + shift, 4)
    torch.testing.assert_close(shifted + (far - shift), first + second, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("classes", "k"), [(10, 3), (1000, 5), (1000, 400)])
def test_at_the_balance_about_k_classes_are_drawn(classes: int, k: int) -> None:
    # 7 bisections of 2 log(2 classes) leave an error of log(2 classes) / 2^7, 0.06 for 1,000 classes; the slope of the
    # sum of the sigmoids is at most the sum itself.
    scores = random_scores(5, classes).detach()
    drawn = (scores - _balance(scores, k).unsqueeze(1)).sigmoid().sum(1)
    assert ((drawn - (k - 0.5)).abs() <= 0.07 * k).all()


def test_a_product_of_polynomials_is_cut_to_its_degree() -> None:
    # (1 + x)(2 + x)(3 + x) = 6 + 11 x + 6 x^2 + x^3
    factors = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]).unsqueeze(1)
    assert _product(factors, 3).flatten().tolist() == [6, 11, 6, 1]
    assert _product(factors, 1).flatten().tolist() == [6, 11]


@pytest.mark.parametrize("way", [_log_odds_by_products, _log_odds_by_scans])
def test_under_vmap_gradients_are_those_of_each_batch(way: Way) -> None:
    stack = torch.stack([random_scores(4, 9).detach(), random_scores(4, 9).detach().flip(0)])
    mapped = torch.func.vmap(torch.func.grad(lambda one: way(one, 3).sum()))(stack)
    looped = torch.stack([torch.func.grad(lambda one: way(one, 3).sum())(one) for one in stack])
    torch.testing.assert_close(mapped, looped)
    assert mapped.isfinite().all()


def test_rows_are_scanned_in_parts_where_memory_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = random_scores(7, 20)
    whole = _log_odds_by_scans(scores, 3)
    monkeypatch.setattr(symmetric_polynomials, "CHUNK", 2 * 2 * 3 * 20)
    parts = _log_odds_by_scans(scores, 3)
    assert torch.equal(parts, whole)
    assert torch.equal(*(torch.autograd.grad(values.sum(), scores)[0] for values in (parts, whole)))


def test_scans_compile_as_one_graph() -> None:
    scores = random_scores(4, 9).detach()
    compiled = torch.compile(lambda one: _log_odds_by_scans(one, 3), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(scores), _log_odds_by_scans(scores, 3))


def test_scans_keep_large_scores_in_single_precision_apart() -> None:
    large = (1e4 * random_scores(4, 9).detach()).float().requires_grad_()
    values = _log_odds_by_scans(large, 3)
    values.sum().backward()
    torch.testing.assert_close(values.double(), _log_odds_by_scans(large.detach().double(), 3), rtol=1e-6, atol=0)
    assert large.grad is not None
    assert large.grad.isfinite().all()
    # The log odds follow the third largest score where scores are that far apart.
    assert torch.equal(large.grad.argmax(1), large.detach().sort(1, descending=True).indices[:, 2])


def test_odds_have_the_dtype_of_the_scores() -> None:
    scores = random_scores(2, 9).detach().float()
    for way in (_log_odds_by_products, _log_odds_by_scans):
        assert way(scores, 3).dtype == torch.float32
