"""Thresholds by clusters of classes whose scores are distributed alike.

Ding, Angelopoulos, Bates, Jordan and Tibshirani: Class-conditional conformal prediction with many classes, NeurIPS
2023. A part of the calibration examples decides the clusters: k-means on five quantiles of each class's scores,
weighted with the root of its number of examples. The rest gives each cluster its threshold. Size of the part and number
of clusters are those of the authors' code, and so is the threshold of classes too rare to be placed: the marginal
one.

Differs from the authors' code: quantiles of a class are order statistics, not interpolated between them (as TorchCP has
it).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from setsweep.trainables.conformal.enough import check_coverage, fewest
from setsweep.trainables.conformal.quantiles import conformal_quantile, marginal, of_each

QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9)
RESTARTS, MOST_STEPS = 10, 300


def clustered(
    scores: Tensor,
    labels: Tensor,
    num_classes: int,
    coverage: float,
    generator: torch.Generator,
    *,
    numbers: tuple[float, int] | None = None,
) -> Tensor:
    """A threshold for each class, that of its cluster.

    Args:
        scores: (n,) of the labels of the calibration examples.
        labels: (n,) class indices.
        num_classes: how many classes there are.
        coverage: between 0 and 1.
        generator: on the CPU; draws which examples decide the clusters, and where k-means begins.
        numbers: the share of the examples that decides the clusters, and how many of these there are; None: see
            `cluster_numbers`.

    Returns:
        (classes,) float64; infinite where a cluster has too few examples. Where too few are left beside those that
        decide the clusters, `marginal` of all.

    Raises:
        ValueError: too few examples for that coverage, or a coverage out of range.
    """
    check_coverage(coverage)
    share, clusters = numbers or cluster_numbers(labels.bincount(minlength=num_classes), coverage)
    chosen = (torch.rand(len(labels), generator=generator) < share).to(labels.device)
    placed = cluster_classes(scores[chosen], labels[chosen], num_classes, clusters, coverage, generator)
    rest, rest_labels = scores[~chosen], labels[~chosen]
    if len(rest) < fewest(coverage):
        return marginal(scores, num_classes, coverage)
    of_cluster = [conformal_quantile(group, coverage) for group in of_each(rest, placed[rest_labels] + 1, clusters + 1)]
    of_cluster[0] = conformal_quantile(rest, coverage)  # of the classes that are not placed
    return torch.tensor(of_cluster, dtype=torch.float64)[placed.cpu() + 1]


def cluster_numbers(counts: Tensor, coverage: float) -> tuple[float, int]:
    """Which share of the examples decides the clusters, and how many of these there are.

    Args:
        counts: (classes,) calibration examples of each class.
        coverage: between 0 and 1.
    """
    least = max(int(counts.min()), fewest(coverage))
    remaining = int((counts >= least).sum())
    examples = least * remaining // (75 + remaining)
    return examples / least, examples // 2


def cluster_classes(
    scores: Tensor, labels: Tensor, num_classes: int, clusters: int, coverage: float, generator: torch.Generator
) -> Tensor:
    """(classes,) the cluster of each class, -1 for those too rare to be placed; all are, where no clusters form."""
    counts = labels.bincount(minlength=num_classes)
    common = (counts >= fewest(coverage)).nonzero().squeeze(1)
    placed = torch.full((num_classes,), -1, device=labels.device)
    if clusters > 1 and len(common) > clusters:
        groups = of_each(scores, labels, num_classes)
        points = torch.stack([_quantiles(groups[label]) for label in common.tolist()])
        placed[common] = weighted_kmeans(points, counts[common].double().sqrt(), clusters, generator)
    return placed


def weighted_kmeans(points: Tensor, weights: Tensor, clusters: int, generator: torch.Generator) -> Tensor:
    """(n,) the cluster of each point: the best of ten k-means, each begun as k-means++ does.

    Arthur and Vassilvitskii: k-means++: the advantages of careful seeding, 2007.

    Args:
        points: (n, d).
        weights: (n,) >= 0.
        clusters: from 1 to n.
        generator: on the CPU; draws where each begins.
    """
    found = [_kmeans(points, weights, clusters, generator) for _ in range(RESTARTS)]
    return min(found, key=lambda each: each[1])[0]


def _kmeans(points: Tensor, weights: Tensor, clusters: int, generator: torch.Generator) -> tuple[Tensor, float]:
    """The cluster of each point, and the weighted sum of squared distances to their means."""
    centres = _first_centres(points, weights, clusters, generator)
    placed = torch.full((len(points),), -1, device=points.device)
    for _ in range(MOST_STEPS):
        before, placed = placed, torch.cdist(points, centres).argmin(1)
        if torch.equal(before, placed):
            break
        total = torch.zeros(clusters, dtype=points.dtype, device=points.device).index_add_(0, placed, weights)
        sums = torch.zeros_like(centres).index_add_(0, placed, weights.unsqueeze(1) * points)
        centres = torch.where(total.unsqueeze(1) > 0, sums / total.clamp(min=1e-300).unsqueeze(1), centres)
    return placed, float((weights * (points - centres[placed]).square().sum(1)).sum())


def _first_centres(points: Tensor, weights: Tensor, clusters: int, generator: torch.Generator) -> Tensor:
    """Points drawn one after the other, by weight times squared distance to the nearest one drawn."""
    chances, chosen = weights, list[int]()
    nearest = torch.full_like(weights, math.inf)
    for _ in range(clusters):
        chances = chances if bool(chances.sum() > 0) else weights  # all points are drawn already
        chosen.append(int(torch.multinomial(chances.cpu(), 1, generator=generator)))
        nearest = nearest.minimum((points - points[chosen[-1]]).square().sum(1))
        chances = weights * nearest
    return points[chosen]


def _quantiles(scores: Tensor) -> Tensor:
    ranks = [math.ceil(len(scores) * quantile - 1e-9) for quantile in QUANTILES]
    return torch.stack([scores.kthvalue(rank).values for rank in ranks])
