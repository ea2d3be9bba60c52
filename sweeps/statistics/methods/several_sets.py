"""One difference from those on several data sets. Seeds are never pooled over sets: a set is one observation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from setsweep.sweeps.statistics.methods.intervals import PairedDifference
from setsweep.sweeps.statistics.methods.signed_rank import signed_rank
from setsweep.sweeps.statistics.methods.student import MIN_SPREAD, check_confidence, mean_and_std, t_quantile, t_tail

Method = Literal["mean", "signed_rank"]
FEW_SETS = 5
"""Up to so many sets the mean is used: the smallest p of a signed-rank test is 2 / 2^5 = 0.06 there."""


@dataclass(frozen=True, kw_only=True)
class Combined:
    """The difference over data sets.

    Args:
        method: "mean" of the sets' differences, or "signed_rank".
        difference: the mean, or the median of all pairs' means (Hodges and Lehmann).
        ci_low, ci_high: ends of its interval; None where the sets do not define one.
        p: of the hypothesis of no difference; None where the sets' differences are all equal.
        between: standard deviation of the true differences between sets, as far as seeds do not explain what is seen;
            None for "signed_rank" or where a set has one seed.
        sets: how many.
    """

    method: Method
    difference: float
    ci_low: float | None
    ci_high: float | None
    p: float | None
    between: float | None
    sets: int


def combined(sets: Sequence[PairedDifference], *, confidence: float) -> Combined:
    """The differences of several data sets as one: `mean_of_sets` up to five, `signed_rank` from six on (Demsar 2006).

    Raises:
        ValueError: fewer than two sets, a set without a difference, or `confidence` is no probability.
    """
    if len(sets) <= FEW_SETS:
        return mean_of_sets(sets, confidence=confidence)
    found = signed_rank(_differences(sets), confidence=confidence)
    return Combined(
        method="signed_rank",
        difference=found.median,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        p=found.p,
        between=None,
        sets=len(sets),
    )


def mean_of_sets(sets: Sequence[PairedDifference], *, confidence: float) -> Combined:
    """The random-effects mean of a few sets' differences, every set counting the same.

    The variance is Hartung and Knapp's (2001), ``sum w_i (y_i - mean)^2 / ((k - 1) sum w_i)``, t has k - 1 degrees of
    freedom, and the weights w_i are equal, which leaves the t interval of the k differences. Weights by 1 / (v_i +
    tau^2), v_i being the seeds' variance, are the usual choice, but rest on variances of a few seeds, and a set with
    little spread by chance gets most of the weight: with tau^2 by Paule and Mandel or by DerSimonian and Laird the
    interval covers 87.6 to 94.9 % (k = 2, 3, 5 sets of 3, 5, 10 seeds; equal and unequal noise; tau of 0, 0.5 and 1.5
    sd), this one 94.1 to 97.1 %, at about the same width. tau^2 is Hedges' (1983): ``var(y_i) - mean v_i``, at least 0.

    Raises:
        ValueError: fewer than two sets, a set without a difference, or `confidence` is no probability.
    """
    check_confidence(confidence)
    values = _differences(sets)
    k = len(values)
    mean, std = mean_and_std(values)
    within = [each.std**2 / each.n for each in sets if each.std is not None]
    between = math.sqrt(max(0.0, std**2 - math.fsum(within) / k)) if len(within) == k else None
    if std < MIN_SPREAD:
        return Combined(method="mean", difference=mean, ci_low=None, ci_high=None, p=None, between=between, sets=k)
    error = std / math.sqrt(k)
    half = t_quantile((1 + confidence) / 2, k - 1) * error
    return Combined(
        method="mean",
        difference=mean,
        ci_low=mean - half,
        ci_high=mean + half,
        p=2 * t_tail(abs(mean) / error, k - 1),
        between=between,
        sets=k,
    )


def _differences(sets: Sequence[PairedDifference]) -> list[float]:
    if len(sets) < 2:
        raise ValueError(f"sets must be >= 2, got {len(sets)}.")
    found = [each.difference for each in sets]
    missing = [index for index, value in enumerate(found) if value is None]
    if missing:
        raise ValueError(f"every set must have a difference, got none for number {missing[0]}.")
    return [value for value in found if value is not None]
