"""Thresholds of conformal sets from the scores that the labels of calibration examples have, by selection.

With one threshold for all classes (`marginal`: Vovk, Gammerman and Shafer: Algorithmic learning in a random world,
2005) a set holds the label of a new exchangeable example with at least the probability asked for. With one a class
(`classwise`: Vovk: Conditional validity of inductive conformal predictors, 2012) it does so for each class; a class
with too few calibration examples is then in every set. Between the two are thresholds by clusters of classes
(`setsweep.trainables.conformal.clusters`) and their interpolation (`interpolated`).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from setsweep.trainables.conformal.enough import check_coverage, check_enough, rounded_up


def conformal_quantile(scores: Tensor, coverage: float) -> float:
    """The ceil((n + 1) coverage)-th smallest of n scores; infinity where there are fewer.

    Args:
        scores: (n,); NaN counts as larger than any.
        coverage: between 0 and 1.
    """
    rank = rounded_up((len(scores) + 1) * coverage)
    if rank > len(scores):
        return math.inf
    return float(scores.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf).kthvalue(rank).values)


def marginal(scores: Tensor, num_classes: int, coverage: float) -> Tensor:
    """One threshold for all classes.

    Args:
        scores: (n,) of the labels of the calibration examples.
        num_classes: how many classes there are.
        coverage: between 0 and 1.

    Returns:
        (classes,) float64, the same for each.

    Raises:
        ValueError: too few examples for that coverage, or a coverage out of range.
    """
    check_coverage(coverage)
    check_enough(len(scores), coverage)
    return torch.full((num_classes,), conformal_quantile(scores, coverage), dtype=torch.float64)


def classwise(scores: Tensor, labels: Tensor, num_classes: int, coverage: float) -> Tensor:
    """A threshold for each class, infinite where it has too few examples.

    Args:
        scores: (n,) of the labels of the calibration examples.
        labels: (n,) class indices.
        num_classes: how many classes there are.
        coverage: between 0 and 1.

    Returns:
        (classes,) float64.

    Raises:
        ValueError: a coverage out of range.
    """
    check_coverage(coverage)
    groups = of_each(scores, labels, num_classes)
    return torch.tensor([conformal_quantile(group, coverage) for group in groups], dtype=torch.float64)


def of_each(scores: Tensor, labels: Tensor, num_classes: int) -> tuple[Tensor, ...]:
    """The scores of each class, in the order in which they came."""
    order = labels.argsort(stable=True)
    return torch.split(scores[order], labels.bincount(minlength=num_classes).tolist())


def interpolated(of_all: Tensor, of_class: Tensor, *, weight: float, largest: float) -> Tensor:
    """INTERP-Q: ``weight q_class + (1 - weight) q_all``.

    Ding, Fermanian and Salmon: Conformal prediction for long-tailed classification, ICLR 2026. An infinite threshold of
    a class is replaced by the largest score that there is, as in their code. Such a set holds all classes that are in
    both of the sets that it lies between, so it misses the label with at most 2 (1 - coverage).

    Args:
        of_all: (classes,) as `marginal` gives it.
        of_class: (classes,) as `classwise` gives it.
        weight: of the second, from 0 to 1.
        largest: the largest score that there is.

    Returns:
        (classes,) float64.
    """
    return weight * of_class.clamp(max=largest) + (1 - weight) * of_all
