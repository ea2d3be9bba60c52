"""Nonconformity scores: how little each class suits an example, from the probabilities of all classes.

A conformal set holds the classes whose score is at most a threshold (`setsweep.trainables.conformal.quantiles`). Scores
are float64, so that the sum of 10,000 probabilities is ordered as its terms are.

- `lac`: Sadinle, Lei and Wasserman: Least ambiguous set-valued classifiers with bounded error levels, JASA 2019. The
  smallest sets on average.
- `aps`: Romano, Sesia and Candes: Classification with valid and adaptive coverage, NeurIPS 2020. Sets that are as large
  as an example is difficult.
- `raps`: Angelopoulos, Bates, Malik and Jordan: Uncertainty sets for image classifiers using conformal prediction, ICLR
  2021. As `aps`, with a penalty on ranks, so that the tail of unlikely classes does not swell the sets.
- `saps`: Huang, Xi, Zhang, Yao, Qiu and Wei: Conformal prediction for deep classifier via label ranking, ICML 2024. Of
  the probabilities the largest alone; the others are replaced by their ranks.
- `pas`: Ding, Fermanian and Salmon: Conformal prediction for long-tailed classification, ICLR 2026. Probability over
  prevalence, the score with the smallest sets at a macro coverage.

The published `aps`, `raps` and `saps` subtract a uniform draw of their last term, one an example; without it (as here
unless draws are given) sets are a little larger and the same each time. Calibrated scores cover alike with and without.
Equal probabilities are ranked by class, the lowest index first, as everywhere in Setsweep.
"""

from __future__ import annotations

import torch
from torch import Tensor


def lac(probabilities: Tensor) -> Tensor:
    """``1 - p_y``.

    Args:
        probabilities: (rows, classes).

    Returns:
        (rows, classes) float64.
    """
    return 1 - probabilities.double()


def aps(probabilities: Tensor, *, draws: Tensor | None = None) -> Tensor:
    """The sum of the probabilities of y and of all classes before it, less ``draws p_y``.

    Args:
        probabilities: (rows, classes).
        draws: (rows,) from 0 to 1; None: 0.

    Returns:
        (rows, classes) float64.
    """
    ordered, order = _ordered(probabilities)
    return _by_class(ordered.cumsum(1) - _drawn(draws, ordered) * ordered, order)


def raps(probabilities: Tensor, *, penalty: float, free_ranks: int, draws: Tensor | None = None) -> Tensor:
    """`aps` plus ``penalty max(0, rank of y - free_ranks)``, ranks from 1.

    Args:
        probabilities: (rows, classes).
        penalty: for each rank, >= 0; 0 is `aps`.
        free_ranks: ranks without a penalty.
        draws: (rows,) from 0 to 1; None: 0.

    Returns:
        (rows, classes) float64.
    """
    ordered, order = _ordered(probabilities)
    beyond = (_ranks(ordered) - free_ranks).clamp(min=0)
    return _by_class(ordered.cumsum(1) - _drawn(draws, ordered) * ordered + penalty * beyond, order)


def saps(probabilities: Tensor, *, weight: float, draws: Tensor | None = None) -> Tensor:
    """``(1 - draws) p_max`` for the first class, ``p_max + (rank of y - 1 - draws) weight`` for the others.

    As TorchCP has it, from the group that published it. (It gives a first class that is a label 0 without draws, and
    p_max in a set: here it is p_max in both, as calibration demands.)

    Args:
        probabilities: (rows, classes).
        weight: of a rank, > 0.
        draws: (rows,) from 0 to 1; None: 0.

    Returns:
        (rows, classes) float64.
    """
    ordered, order = _ordered(probabilities)
    largest, drawn = ordered[:, :1], _drawn(draws, ordered)
    scores = largest + (_ranks(ordered) - 1 - drawn) * weight
    scores[:, :1] = (1 - drawn) * largest
    return _by_class(scores, order)


def pas(probabilities: Tensor, *, prevalence: Tensor) -> Tensor:
    """``1 - p_y / prevalence_y``.

    Args:
        probabilities: (rows, classes).
        prevalence: (classes,) > 0, see `prevalence_of`.

    Returns:
        (rows, classes) float64.
    """
    return 1 - probabilities.double() / prevalence.to(probabilities.device)


def prevalence_of(train_class_counts: Tensor) -> Tensor:
    """The share of each class among the training examples, (classes,) float64.

    A class that has none counts as having one: with a share of 0 it would be in every set.
    """
    return train_class_counts.clamp(min=1).double() / train_class_counts.sum()


def _ordered(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """The probabilities of each row from the largest down, and the classes that they are of."""
    ordered = probabilities.sort(dim=1, descending=True, stable=True)
    return ordered.values.double(), ordered.indices


def _by_class(values: Tensor, order: Tensor) -> Tensor:
    return torch.empty_like(values).scatter_(1, order, values)


def _ranks(ordered: Tensor) -> Tensor:
    return torch.arange(1, ordered.shape[1] + 1, device=ordered.device, dtype=ordered.dtype)


def _drawn(draws: Tensor | None, ordered: Tensor) -> Tensor:
    return ordered.new_zeros(1, 1) if draws is None else draws.to(ordered).unsqueeze(1)
