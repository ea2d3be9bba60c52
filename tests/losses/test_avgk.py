from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from setsweep.losses.avgk import avgk, candidate_classes
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.single_positive import positive_bce


def two_heads(batch: int, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(classes)
    ml_scores, sccp_scores = (torch.randn(batch, classes, generator=generator, dtype=torch.float64) for _ in range(2))
    return ml_scores, sccp_scores, torch.randint(classes, (batch,), generator=generator)


@pytest.mark.parametrize(("batch", "classes", "k"), [(1, 5, 3), (8, 5, 4), (64, 100, 2), (37, 50, 3), (4, 6, 1)])
@pytest.mark.parametrize("equal", [False, True])
def test_candidate_sets_and_label_have_mean_size_k_exactly(batch: int, classes: int, k: int, equal: bool) -> None:
    _, scores, labels = two_heads(batch, classes)
    scores = torch.zeros_like(scores) if equal else scores  # equal: every value ties
    candidates = candidate_classes(scores.log_softmax(1), labels, k=k)
    sets = torch.zeros(batch * classes).index_fill(0, candidates, 1.0).view(batch, classes)
    assert sets.gather(1, labels[:, None]).sum() == 0
    assert sets.sum() + batch == k * batch


def test_candidates_are_the_likeliest_of_the_whole_batch() -> None:
    _, scores, labels = two_heads(64, 100)
    likely = scores.log_softmax(1)
    chosen = likely.flatten()[candidate_classes(likely, labels, k=3)]
    expected = likely.scatter(1, labels[:, None], -torch.inf).flatten().sort(descending=True).values[:128]
    assert torch.equal(chosen.sort(descending=True).values, expected)


def test_set_sizes_follow_the_ambiguity_of_the_example() -> None:
    sure, unsure = [9.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]
    candidates = candidate_classes(torch.tensor([sure, unsure]).log_softmax(1), torch.tensor([0, 0]), k=2)
    assert sorted(candidates.tolist()) == [5, 6]


@pytest.mark.parametrize("classes", [6, 40])
@pytest.mark.parametrize("as_printed", [False, True])
def test_it_is_the_sum_of_equation_15_term_by_term(classes: int, as_printed: bool) -> None:
    n, k, alpha = 5, 3, 0.7
    ml_scores, sccp_scores, labels = two_heads(n, classes)
    likely = sccp_scores.softmax(1).scatter(1, labels[:, None], -torch.inf)
    candidate = likely >= likely.flatten().sort(descending=True).values[(k - 1) * n - 1]
    total = cross_entropy(sccp_scores, labels).mean().item()
    for i, label in enumerate(labels.tolist()):
        for j in range(classes):
            yes, no = logsigmoid(ml_scores[i, j]).item(), logsigmoid(-ml_scores[i, j]).item()
            if j == label:
                total -= yes / n
            if candidate[i, j]:
                total -= alpha * yes / ((k - 1) * n)
            elif as_printed or j != label:
                total -= alpha * no / ((classes - k) * n)
    values = avgk(ml_scores, sccp_scores, labels, k=k, alpha=alpha, y_in_negatives=as_printed)
    assert values.mean().item() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("k", "terms"), [(1, 2), (2, 3), (4, 3)])
def test_of_scores_of_zero_each_term_is_log_2_whatever_the_candidates(k: int, terms: int) -> None:
    # Label, candidates and negatives are three means of log 2, the last two weighed by alpha = 1; with k = 1 there are
    # no candidates. The other head's cross-entropy adds log 5.
    zeros = torch.zeros(6, 5, dtype=torch.float64)
    values = avgk(zeros, zeros, torch.arange(6) % 5, k=k)
    assert values.mean().item() == pytest.approx(terms * math.log(2) + math.log(5), rel=1e-12)


def test_without_candidates_and_negatives_it_is_cross_entropy_and_positive_bce() -> None:
    ml_scores, sccp_scores, labels = two_heads(7, 9)
    expected = cross_entropy(sccp_scores, labels) + positive_bce(ml_scores, labels)
    torch.testing.assert_close(avgk(ml_scores, sccp_scores, labels, k=3, alpha=0.0), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("classes", [9, 40])
def test_label_and_candidates_are_pushed_up_and_all_others_down(classes: int) -> None:
    ml_scores, sccp_scores, labels = two_heads(6, classes)
    ml_scores.requires_grad_()
    avgk(ml_scores, sccp_scores, labels, k=3).mean().backward()
    expected = torch.zeros(6 * classes, dtype=torch.bool)
    expected[candidate_classes(sccp_scores.log_softmax(1), labels, k=3)] = True
    expected[torch.arange(6) * classes + labels] = True
    assert ml_scores.grad is not None
    assert torch.equal((ml_scores.grad < 0).flatten(), expected)


def test_the_candidate_head_learns_by_cross_entropy_alone() -> None:
    ml_scores, sccp_scores, labels = two_heads(6, 9)
    own = sccp_scores.clone().requires_grad_()
    sccp_scores.requires_grad_()
    avgk(ml_scores, sccp_scores, labels, k=3).mean().backward()
    cross_entropy(own, labels).mean().backward()
    torch.testing.assert_close(sccp_scores.grad, own.grad)


def test_heads_of_different_shape_are_refused() -> None:
    said = r"^the scores of both heads must have one shape, got \(2, 9\) and \(2, 8\)\.$"
    with pytest.raises(ValueError, match=said):
        avgk(torch.zeros(2, 9), torch.zeros(2, 8), torch.tensor([0, 1]), k=3)
