"""Sets of classes from scores: the two rules by which a trained model answers, as they are measured."""

from __future__ import annotations

import torch
from torch import Tensor

from setsweep.losses.checks import widened


def top_sets(scores: Tensor, k: int) -> Tensor:
    """The k classes with the largest scores, of equal ones those with the lowest index.

    A label is in its set exactly if `setsweep.trainables.evaluation.metrics.label_ranks` gives it less than k; a row
    with a NaN score has the empty set.

    Args:
        scores: (batch, classes).
        k: 1 to classes.

    Returns:
        (batch, classes) bool.
    """
    scores = widened(scores)
    largest = scores.sort(dim=1, descending=True, stable=True).indices[:, :k]
    sets = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, largest, True)
    return sets & ~scores.isnan().any(1, keepdim=True)
