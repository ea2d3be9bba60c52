from __future__ import annotations

import pytest
import torch

from setsweep.losses import build_loss
from setsweep.losses.avgk import candidate_classes


@pytest.mark.parametrize(("batch", "classes", "k"), [(1, 5, 3), (8, 5, 4), (64, 100, 2), (37, 50, 3), (4, 6, 1)])
def test_candidate_sets_and_label_have_mean_size_k_exactly(batch, classes, k):
    for scores in (torch.randn(batch, classes), torch.zeros(batch, classes)):  # zeros: every value ties
        labels = torch.randint(classes, (batch,))
        candidates = candidate_classes(scores.log_softmax(1), labels, k=k)
        sets = torch.zeros(batch * classes).index_fill(0, candidates, 1.0).view(batch, classes)
        assert sets.gather(1, labels[:, None]).sum() == 0
        assert sets.sum() + batch == k * batch


def test_candidates_are_the_likeliest_of_the_whole_batch():
    scores = torch.randn(64, 100)
    labels = torch.randint(100, (64,))
    likely = scores.log_softmax(1)
    chosen = likely.flatten()[candidate_classes(likely, labels, k=3)]
    expected = likely.scatter(1, labels[:, None], -torch.inf).flatten().sort(descending=True).values[:128]
    assert torch.equal(chosen.sort(descending=True).values, expected)


def test_set_sizes_follow_the_ambiguity_of_the_example():
    sure, unsure = [9.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]
    candidates = candidate_classes(torch.tensor([sure, unsure]).log_softmax(1), torch.tensor([0, 0]), k=2)
    assert sorted(candidates.tolist()) == [5, 6]


def test_the_candidate_head_learns_by_cross_entropy_alone():
    ml_scores, sccp_scores = torch.randn(6, 9), torch.randn(6, 9, requires_grad=True)
    labels = torch.randint(9, (6,))
    build_loss("avgk", num_classes=9, k=3)((ml_scores, sccp_scores), labels).mean().backward()
    own = sccp_scores.detach().requires_grad_()
    build_loss("cross_entropy", num_classes=9)(own, labels).mean().backward()
    torch.testing.assert_close(sccp_scores.grad, own.grad)


def test_heads_of_different_shape_are_refused():
    loss = build_loss("avgk", num_classes=9, k=3)
    with pytest.raises(
        ValueError, match=r"^the scores of both heads must have one shape, got \(2, 9\) and \(2, 8\)\.$"
    ):
        loss((torch.zeros(2, 9), torch.zeros(2, 8)), torch.tensor([0, 1]))
