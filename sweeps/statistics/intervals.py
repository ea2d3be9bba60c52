"""Numbers with their uncertainty: intervals over seeds, differences paired by seed, corrections for many tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Correction = Literal["holm", "bonferroni", "none"]


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """A sample mean and its interval; None where `n` values do not define the number.

    Args:
        mean: None for n = 0.
        ci_low, ci_high: ends of the interval; None for n < 2.
        std: sample standard deviation (n - 1 in the denominator); None for n < 2.
        n: how many values.
    """

    mean: float | None
    ci_low: float | None
    ci_high: float | None
    std: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The mean of differences that are paired by seed.

    Args:
        difference: None for n = 0.
        ci_low, ci_high: ends of its interval; None for n < 2.
        p: of the two-sided paired t test that the mean difference is 0; None for n < 2.
        n: how many seeds both sides have.
    """

    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    n: int


def mean_interval(values: Sequence[float], *, confidence: float) -> MeanInterval:
    """The mean of finite `values` with the Student-t interval that covers it with probability `confidence`.

    The interval is ``mean +- t * std / sqrt(n)``, t being the (1 + confidence) / 2 quantile for n - 1 degrees of
    freedom. It rests on values that are independent and about normal; no bounds (such as 1 for an accuracy) are
    put on it.

    Raises:
        ValueError: `confidence` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}.")
    n = len(values)
    if n == 0:
        return MeanInterval(mean=None, ci_low=None, ci_high=None, std=None, n=0)
    mean = _mean(values)
    if n == 1:
        return MeanInterval(mean=mean, ci_low=None, ci_high=None, std=None, n=1)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = _t_quantile((1 + confidence) / 2, n - 1) * std / math.sqrt(n)
    return MeanInterval(mean=mean, ci_low=mean - half, ci_high=mean + half, std=std, n=n)


def paired_difference(
    values: Mapping[int, float], baseline: Mapping[int, float], *, confidence: float
) -> PairedDifference:
    """The mean of ``values[seed] - baseline[seed]`` over the seeds that both have.

    Where all differences are equal the t statistic is not defined; then p is 1 if they are 0 and 0 otherwise.
    """
    differences = [values[seed] - baseline[seed] for seed in sorted(values.keys() & baseline.keys())]
    interval = mean_interval(differences, confidence=confidence)
    return PairedDifference(
        difference=interval.mean,
        ci_low=interval.ci_low,
        ci_high=interval.ci_high,
        p=_p_of_zero_mean(interval),
        n=interval.n,
    )


def corrected(p_values: Sequence[float | None], correction: Correction) -> list[float | None]:
    """P-values corrected for how many there are, in the order given; a missing one is not counted and stays missing.

    "bonferroni" multiplies by the number of tests m; "holm" multiplies the i-th smallest by m - i + 1 and keeps the
    order (Holm 1979, step-down): uniformly more powerful, and as "bonferroni" right under any dependence; "none"
    leaves them as they are.

    Raises:
        ValueError: an unknown correction.
    """
    if correction not in ("holm", "bonferroni", "none"):
        raise ValueError(f"correction must be holm, bonferroni or none, got {correction!r}.")
    tested = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    result: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(tested):
        factor = {"holm": len(tested) - rank, "bonferroni": len(tested), "none": 1}[correction]
        largest = max(largest, min(1.0, factor * p))
        result[index] = largest
    return result


def _mean(values: Sequence[float]) -> float:
    # Equal values must have exactly zero spread, whatever the rounding of their sum.
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


def _p_of_zero_mean(interval: MeanInterval) -> float | None:
    if interval.mean is None or interval.std is None:
        return None
    if interval.std == 0:
        return 1.0 if interval.mean == 0 else 0.0
    from scipy.special import stdtr  # imported late: listing studies must not wait for it

    t = interval.mean / (interval.std / math.sqrt(interval.n))
    return 2 * float(stdtr(interval.n - 1, -abs(t)))


@lru_cache
def _t_quantile(probability: float, degrees: int) -> float:
    from scipy.special import stdtrit  # imported late: listing studies must not wait for it

    return float(stdtrit(degrees, probability))
