"""The losses of a seed group are those of each seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from setsweep.losses import LOSSES, build_loss
from setsweep.trainables.learners.seed_losses import SeedLosses, _as_rows
from setsweep.trainables.models.heads import Scores

SEEDS, BATCH, CLASSES = 3, 8, 6


def _losses(name: str, counts: list[list[int]] | None = None) -> list[nn.Module]:
    """The loss of each seed, with noise and first estimates of its own."""
    made = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed)
        given = {"class_counts": counts[seed] if counts else [5] * CLASSES, "num_examples": 20}
        made.append(build_loss(name, num_classes=CLASSES, k=2, generator=generator, **given))
    return made


def _scores(name: str, *, feature_major: bool) -> Scores:
    """Scores (seeds, batch, classes), or a pair of them, that learn."""

    def one(seed: int) -> Tensor:
        scores = torch.randn(SEEDS, CLASSES, BATCH, generator=torch.Generator().manual_seed(seed)).tanh()
        laid = scores.transpose(1, 2) if feature_major else scores.transpose(1, 2).contiguous()
        return laid.detach().requires_grad_()

    return (one(0), one(1)) if LOSSES[name].head == "two_head" else one(0)


def _gradients(scores: Scores) -> list[Any]:
    return [each.grad for each in (scores if isinstance(scores, tuple) else (scores,))]


def _check(name: str, losses: list[nn.Module], others: list[nn.Module], *, feature_major: bool = True) -> None:
    """The losses together against the others, the same, one by one: means and gradients."""
    together, apart = (_scores(name, feature_major=feature_major) for _ in range(2))
    chance = torch.Generator().manual_seed(5)
    labels = torch.randint(CLASSES, (SEEDS, BATCH), generator=chance)
    indices = [torch.randperm(20, generator=chance)[:BATCH] for _ in range(SEEDS)]
    means = SeedLosses(losses, LOSSES[name])(together, labels, indices)
    means.sum().backward()
    for seed, loss in enumerate(others):
        own = tuple(each[seed] for each in apart) if isinstance(apart, tuple) else apart[seed]
        extra = {"indices": indices[seed]} if LOSSES[name].needs_indices else {}
        mean = loss(own, labels[seed], **extra).mean()
        mean.backward()
        torch.testing.assert_close(means[seed], mean, rtol=1e-5, atol=1e-6)
    for one, other in zip(_gradients(together), _gradients(apart), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("feature_major", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_each_seed_has_the_mean_and_the_gradients_of_its_own_loss(name: str, feature_major: bool) -> None:
    _check(name, _losses(name), _losses(name), feature_major=feature_major)


@pytest.mark.parametrize("name", [name for name, declaration in LOSSES.items() if declaration.needs_class_counts])
def test_seeds_whose_classes_differ_in_size_have_margins_of_their_own(name: str) -> None:
    counts = [[1, 5, 25, 1, 5, 25], [5] * CLASSES, [9, 8, 7, 6, 5, 4]]
    _check(name, _losses(name, counts), _losses(name, counts))


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if not loss.needs_indices])
def test_one_by_one_they_give_what_they_give_together(name: str) -> None:
    alone = replace(LOSSES[name], needs_generator=True)  # as if each drew noise of its own
    scores, labels = _scores(name, feature_major=True), torch.arange(SEEDS * BATCH).view(SEEDS, BATCH) % CLASSES
    indices = [torch.arange(BATCH)] * SEEDS
    means, expected = (SeedLosses(_losses(name), each)(scores, labels, indices) for each in (alone, LOSSES[name]))
    torch.testing.assert_close(means, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("feature_major", [True, False])
def test_scores_reach_a_loss_in_the_layout_that_they_have(feature_major: bool) -> None:
    scores = _scores("cross_entropy", feature_major=feature_major)
    assert isinstance(scores, Tensor)
    rows = _as_rows(scores)
    assert torch.equal(rows, torch.cat(list(scores)))
    assert rows.stride(0 if feature_major else 1) == 1


def test_soft_labels_reach_the_losses_that_take_them() -> None:
    labels = torch.rand(SEEDS, BATCH, CLASSES).softmax(2)
    scores = torch.randn(SEEDS, BATCH, CLASSES)
    losses = _losses("cross_entropy")
    means = SeedLosses(losses, LOSSES["cross_entropy"])(scores, labels, [torch.arange(BATCH)] * SEEDS)
    expected = [loss(own, each).mean() for loss, own, each in zip(losses, scores, labels, strict=True)]
    torch.testing.assert_close(means, torch.stack(expected))
