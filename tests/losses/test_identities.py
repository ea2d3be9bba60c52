"""Losses that coincide, tend to each other or bound each other."""

from __future__ import annotations

import pytest
import torch

from setsweep.losses import build_loss
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.ldam import class_margins

CLASSES = 12


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    scores = 3 * torch.randn(40, CLASSES, generator=generator, dtype=torch.float64)
    return scores, torch.randint(CLASSES, (40,), generator=generator)


def values(name, batch, **settings):
    return build_loss(name, num_classes=CLASSES, class_counts=[3] * CLASSES, **settings)(*batch)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("focal", {"gamma": 0.0}),
        ("ldam", {"max_margin": 0.0, "scale": 1.0}),
        ("topk_grouping", {"k": 1}),
        ("topk_transition", {"k": 1}),
    ],
)
def test_special_cases_equal_cross_entropy(batch, name, settings):
    torch.testing.assert_close(values(name, batch, **settings), values("cross_entropy", batch), rtol=1e-12, atol=1e-12)


def test_cross_entropy_of_equal_scores_is_the_logarithm_of_the_number_of_classes():
    loss = build_loss("cross_entropy", num_classes=4)
    torch.testing.assert_close(loss(torch.zeros(1, 4), torch.tensor([2])), torch.tensor([4.0]).log())


def test_log_softmax_is_the_same_for_few_and_for_many_classes():
    for classes in (6, 40):
        scores = torch.randn(5, classes, dtype=torch.float64)
        torch.testing.assert_close(log_softmax(scores), scores.log_softmax(1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["cross_entropy", "topk_grouping", "topk_transition"])
def test_a_soft_label_is_worth_the_mean_of_its_classes(batch, name):
    scores, labels = batch
    other = (labels + 1) % CLASSES
    soft = torch.zeros_like(scores).scatter(1, labels[:, None], 0.3).scatter(1, other[:, None], 0.7)
    settings = {} if name == "cross_entropy" else {"k": 3}
    mixed = 0.3 * values(name, (scores, labels), **settings) + 0.7 * values(name, (scores, other), **settings)
    torch.testing.assert_close(values(name, (scores, soft), **settings), mixed, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 11])
def test_the_convexified_hinge_bounds_the_plain_one(batch, k):
    assert (values("convex_topk_hinge", batch, k=k) >= values("topk_hinge", batch, k=k) - 1e-12).all()


@pytest.mark.parametrize("k", [1, 3])
def test_the_calibrated_hinge_never_exceeds_the_plain_one_and_a_margin_of_zero_is_an_error(batch, k):
    scores, labels = batch
    calibrated, plain = values("calibrated_topk_hinge", batch, k=k), values("topk_hinge", batch, k=k)
    wrong = (scores > scores.gather(1, labels[:, None])).sum(1) >= k
    assert (calibrated <= plain + 1e-12).all()
    assert (plain[wrong] >= 1).all()


def test_grouping_does_not_tell_the_top_k_apart():
    loss = build_loss("topk_grouping", num_classes=4, k=2)
    scores = torch.tensor([[2.0, 1.0, 0.0, -1.0]]).expand(2, 4)
    first, second = loss(scores, torch.tensor([0, 1]))
    torch.testing.assert_close(first, second)


def test_grouping_takes_the_lowest_of_tied_classes_into_the_top_k():
    loss = build_loss("topk_grouping", num_classes=4, k=2)
    inside = loss(torch.zeros(4, 4), torch.arange(4))
    torch.testing.assert_close(inside, torch.tensor([0.5, 0.5, 0.25, 0.25]).log().neg())


def test_ldam_margins_fall_with_the_fourth_root_and_unseen_classes_count_as_the_rarest():
    margins = class_margins(torch.tensor([1, 16, 81, 0]), 0.5)
    torch.testing.assert_close(margins, torch.tensor([0.5, 0.25, 0.5 / 3, 0.5], dtype=torch.float64))


def test_focal_has_a_finite_gradient_where_the_label_is_certain():
    scores = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    build_loss("focal", num_classes=3, gamma=0.5)(scores, torch.tensor([0])).sum().backward()
    assert scores.grad.abs().max() < 1e-6


def test_epr_adds_the_same_penalty_to_every_example(batch):
    scores, labels = batch
    penalty = values("epr", batch, k=3, beta=2.0) - values("positive_bce", batch)
    expected = 2.0 * (scores.sigmoid().sum(1).mean() - 3) ** 2
    torch.testing.assert_close(penalty, expected.expand(len(labels)), rtol=1e-12, atol=1e-12)
