"""What the papers claim of their losses, by numbers: who keeps the right classes, and how smooth the smoothing is.

Calibration is that of Yang and Koyejo (2020), as the noised paper's appendix A has it: no score vector whose k largest
are not those of the conditional probabilities has the least conditional risk. Hinge losses with a margin of 1 are
linear between planes on which two scores are equal or differ by 1, and bounded from below, so that some scores of least
risk are whole numbers: trying those of a small range is exact.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.avgk import avgk
from setsweep.losses.kernels.noised_kth import smoothed_kth_largest

SIZES = [(4, 1), (4, 2), (5, 2), (5, 3)]


def _probabilities(classes: int, count: int = 40) -> Tensor:
    """(count, classes) on the simplex: even ones, uneven ones, and some of which no class has a half."""
    chance = torch.Generator().manual_seed(classes)
    drawn = torch.empty(count, classes, dtype=torch.float64).exponential_(generator=chance) + 0.05
    return drawn / drawn.sum(1, keepdim=True)


def _risks(name: str, scores: Tensor, k: int, **settings: float) -> Tensor:
    """(scores, classes) loss of each score vector with each label."""
    rows, classes = scores.shape
    loss = build_loss(name, num_classes=classes, k=k, **settings)
    labels = torch.arange(classes).repeat(rows)
    values: Tensor = loss(scores.repeat_interleave(classes, 0), labels)
    return values.reshape(rows, classes)


def _keeps(scores: Tensor, likely: Tensor, k: int) -> Tensor:
    """Whether scores are top-k preserving (definition A.1), row by row; (scores, classes) and (classes,)."""
    of, to = scores.sort(descending=True).values, likely.sort(descending=True).values
    above = (likely <= to[k]) | (scores > of[:, k : k + 1])
    below = (likely >= to[k - 1]) | (scores < of[:, k - 1 : k])
    return (above & below).all(1)


def _whole_numbers(classes: int) -> Tensor:
    """Every score vector of 0 to classes - 1, which is as far as differences of 1 in a row reach."""
    return torch.cartesian_prod(*[torch.arange(classes, dtype=torch.float64)] * classes)


@pytest.mark.parametrize(("classes", "k"), SIZES)
def test_no_wrong_classes_have_the_least_calibrated_hinge(classes: int, k: int) -> None:
    scores = _whole_numbers(classes)
    risks = _risks("calibrated_topk_hinge", scores, k)
    for likely in _probabilities(classes):
        risk, kept = risks @ likely, _keeps(scores, likely, k)
        assert risk[kept].min() < risk[~kept].min() - 1e-9


@pytest.mark.parametrize(("classes", "k"), SIZES)
def test_the_plain_hinge_has_probabilities_of_which_it_loses_the_best_classes(classes: int, k: int) -> None:
    """Where no class is likely enough, equal scores for all have the least risk."""
    scores = _whole_numbers(classes)
    risks = _risks("topk_hinge", scores, k)
    lost = 0
    for likely in _probabilities(classes):
        risk, kept = risks @ likely, _keeps(scores, likely, k)
        lost += bool(risk[~kept].min() < risk[kept].min() - 1e-9)
    assert lost >= 10  # of 40


@pytest.mark.parametrize(("classes", "k"), SIZES)
def test_the_log_probabilities_have_the_least_cross_entropy_which_is_convex(classes: int, k: int) -> None:
    for likely in _probabilities(classes, 5):
        scores = likely.log().unsqueeze(0).requires_grad_()
        (_risks("cross_entropy", scores, k) @ likely).sum().backward()
        assert scores.grad is not None
        assert scores.grad.abs().max() < 1e-12
        assert bool(_keeps(scores.detach(), likely, k))


@pytest.mark.parametrize(("classes", "k"), [(4, 1), (4, 2)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_descent_of_the_noised_hinge_ends_with_the_best_classes(classes: int, k: int, epsilon: float) -> None:
    """The paper shows it of the loss that it smooths. From the best wrong scores, too; 256 fixed draws of noise."""
    whole, likely = _whole_numbers(classes), _probabilities(classes, 3)
    noise = torch.randn(256, classes, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for row in likely:
        risk, kept = _risks("calibrated_topk_hinge", whole, k) @ row, _keeps(whole, row, k)
        starts = [
            whole[kept][risk[kept].argsort()[:1]],
            whole[~kept][risk[~kept].argsort()[:4]],
            row.log().unsqueeze(0),
        ]
        scores, least = _descended(torch.cat(starts), row, k, epsilon, noise)
        assert bool(_keeps(scores[least.argmin()].unsqueeze(0), row, k))


def _descended(scores: Tensor, likely: Tensor, k: int, epsilon: float, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Score vectors after 150 steps of Adam, and their conditional risk."""
    rows, classes = scores.shape
    scores, labels = scores.clone().requires_grad_(), torch.arange(classes).repeat(rows)
    loss = build_loss("noised_topk_hinge", num_classes=classes, k=k, epsilon=epsilon, num_samples=len(noise))
    optimizer = torch.optim.Adam([scores], lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 150)
    draws = noise.expand(rows * classes, *noise.shape)
    for _ in range(150):
        risk = loss(scores.repeat_interleave(classes, 0), labels, draws).reshape(rows, classes) @ likely
        optimizer.zero_grad()
        risk.sum().backward()
        optimizer.step()
        schedule.step()
    return scores.detach(), risk.detach()


def test_average_k_learns_the_best_sets_of_its_own_size_and_no_smaller_ones() -> None:
    """What the two-head paper leaves open, for heads that can give any scores, labels drawn from known probabilities.

    The other head's best scores are the log-probabilities. Then a class is a candidate where it is likely enough for
    k - 1 of them on average, and never a negative: the best score of it is infinite. Elsewhere it grows with the
    probability. So a threshold that takes k on average takes all candidates and what is likeliest besides, which is the
    best there is; one that takes fewer must choose among equal scores.
    """
    chance = torch.Generator().manual_seed(0)
    likely = torch.empty(30, 6, dtype=torch.float64).exponential_(generator=chance) ** 2 + 1e-3
    likely /= likely.sum(1, keepdim=True)
    wanted = _best_of_the_multi_label_head(likely, k=3, alpha=1.0)
    assert _average_k_accuracy(wanted, likely, 3) == pytest.approx(_average_k_accuracy(likely, likely, 3), abs=1e-9)
    for k in (1, 2):
        assert _average_k_accuracy(wanted, likely, k) < _average_k_accuracy(likely, likely, k) - 0.1
    assert 2 <= float((wanted > 1 - 1e-12).double().sum(1).mean()) <= 3  # saturated: k - 1 to k a point


def _best_of_the_multi_label_head(likely: Tensor, *, k: int, alpha: float) -> Tensor:
    """(points, classes) probabilities of least expected loss: the share that positives have of all weight.

    The loss is binary cross-entropy with weights, whose gradient far below 0 is that of positives alone and far above 0
    that of negatives. 100 draws of all labels, each a batch.
    """
    chance = torch.Generator().manual_seed(1)
    weights = torch.zeros(2, *likely.shape, dtype=torch.float64)
    for _ in range(100):
        labels = torch.multinomial(likely, 1, generator=chance).squeeze(1)
        for side, value in enumerate((-40.0, 40.0)):
            scores = torch.full_like(likely, value).requires_grad_()
            avgk(scores, likely.log(), labels, k=k, alpha=alpha).mean().backward()
            assert scores.grad is not None
            weights[side] += scores.grad.abs()
    return weights[0] / weights.sum(0)


def _average_k_accuracy(scores: Tensor, likely: Tensor, k: int) -> float:
    """Of the sets that a threshold gives which k classes a point reach on average."""
    inside = scores.flatten().sort(descending=True, stable=True).indices[: k * len(scores)]
    return float(likely.flatten()[inside].sum() / len(scores))


@pytest.mark.parametrize(("classes", "k", "epsilon"), [(5, 1, 0.5), (5, 2, 0.5), (10, 3, 1.0), (20, 5, 0.2)])
def test_the_smoothed_sums_and_places_are_as_smooth_as_proved(classes: int, k: int, epsilon: float) -> None:
    """Propositions 3.3 and 3.5, on pairs half an epsilon apart, with the same 2,000 draws of noise for all.

    Sums of the k largest: sqrt(k)-Lipschitz, exactly so of these draws; their gradient sqrt(k L) / epsilon-Lipschitz.
    The k-th place: its gradient 4 sqrt(k L) / epsilon-Lipschitz, its value within epsilon k sqrt(2 log L) of the k-th
    largest. The mean of the draws is off by some 1/sqrt(2,000); the constants are three times and more what is found.
    """
    chance = torch.Generator().manual_seed(0)
    noise = torch.randn(1, 2000, classes, dtype=torch.float64, generator=chance).expand(20, -1, -1)
    here = epsilon * torch.randn(20, classes, dtype=torch.float64, generator=chance)
    step = torch.randn(20, classes, dtype=torch.float64, generator=chance)
    there = here + epsilon / 2 * step / step.norm(dim=1, keepdim=True)
    apart = (there - here).norm(dim=1)

    (sums, slopes), (sums_there, slopes_there) = (
        _sums_of_largest(scores, k, epsilon, noise) for scores in (here, there)
    )
    assert ((sums_there - sums).abs() / apart).max() <= math.sqrt(k)
    assert slopes.norm(dim=1).max() <= math.sqrt(k)
    assert ((slopes_there - slopes).norm(dim=1) / apart).max() <= math.sqrt(k * classes) / epsilon

    (kth, slopes), (_, slopes_there) = (_kth_largest(scores, k, epsilon, noise) for scores in (here, there))
    assert ((slopes_there - slopes).norm(dim=1) / apart).max() <= 4 * math.sqrt(k * classes) / epsilon
    off = (kth - here.sort(descending=True).values[:, k - 1]).abs().max()
    assert off <= epsilon * k * math.sqrt(2 * math.log(classes))


def test_the_smoothed_sum_is_convex_yet_not_strictly_so() -> None:
    """Against the letter of proposition 3.3: along equal changes of all scores it is a straight line."""
    noise = torch.randn(1, 500, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).expand(3, -1, -1)
    scores = torch.linspace(0, 1, 6, dtype=torch.float64) + torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
    low, middle, high = _sums_of_largest(scores, 2, 0.5, noise)[0].tolist()
    assert middle == pytest.approx((low + high) / 2, abs=1e-12)
    apart = torch.stack([scores[0], (scores[0] + scores[0].flip(0)) / 2, scores[0].flip(0)])
    low, middle, high = _sums_of_largest(apart, 2, 0.5, noise)[0].tolist()
    assert middle < (low + high) / 2 - 0.1


def _kth_largest(scores: Tensor, k: int, epsilon: float, noise: Tensor) -> tuple[Tensor, Tensor]:
    """(points,) smoothed k-th largest and its gradient."""
    scores = scores.clone().requires_grad_()
    values = smoothed_kth_largest(scores, k, epsilon=epsilon, num_samples=noise.shape[1], noise=noise)
    values.sum().backward()
    assert scores.grad is not None
    return values.detach(), scores.grad


def _sums_of_largest(scores: Tensor, k: int, epsilon: float, noise: Tensor) -> tuple[Tensor, Tensor]:
    """(points,) smoothed sum of the k largest and its gradient."""
    values, slopes = zip(*(_kth_largest(scores, place, epsilon, noise) for place in range(1, k + 1)), strict=True)
    return torch.stack(values).sum(0), torch.stack(slopes).sum(0)
