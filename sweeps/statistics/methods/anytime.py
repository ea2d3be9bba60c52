"""Looking after every seed and stopping at will: an interval and a p-value that stay valid.

Of the constructions in Wang and Ramdas (Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
variance, Sequential Analysis 44, 2025, arXiv 2310.03722) this is Lai's (1976), their Theorem 4.1: with a first look at
5 seeds it is narrower up to 10 seeds than their Gaussian mixture (Theorem 4.9) for every c, and needs no c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from setsweep.sweeps.statistics.methods.student import Sample, check_confidence, sample_of, t_tail


@dataclass(frozen=True, kw_only=True)
class Anytime:
    """A mean difference, its interval and its p, valid however often one has looked.

    Args:
        difference: the mean of all; None for n = 0.
        ci_low, ci_high: ends of the interval at n; None before the first look and where all differences are equal.
        p: the smallest p of all numbers of differences from the first look to n; None before it.
        n: how many differences.
    """

    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    n: int


def anytime(differences: Sequence[float], *, confidence: float, first: int = 5) -> Anytime:
    """The confidence sequence of Lai (1976), and its p-value, at the last of `differences`.

    With m = first and ``alpha = 2 (1 - F(a) + a f(a))``, F and f being distribution and density of Student's t with
    m - 1 degrees of freedom, the intervals ``mean +- s sqrt((b n)^(1 / n) - 1)`` for n = m, m + 1, ... cover the true
    mean all together with at least 1 - alpha, where ``s^2`` has n in the denominator and
    ``b = (1 + a^2 / (m - 1))^m / m`` (Wang and Ramdas, Theorem 4.1). Exact for independent normal differences and
    endless looking, so on the safe side for few: up to 30 seeds 2.5 to 3.2 %
    false positives instead of 5 %. p is the smallest alpha whose
    interval leaves 0 out at some n. At 10 seeds the interval is 1.7 times as wide as that of one t test.

    Args:
        differences: in the order of their seeds, in which they were looked at.
        confidence: of all intervals together.
        first: the number of differences below which nobody looks; fixed before.

    Raises:
        ValueError: `first` < 3, or `confidence` is no probability.
    """
    check_confidence(confidence)
    if first < 3:
        raise ValueError(f"first must be >= 3, got {first}.")
    n = len(differences)
    mean = math.fsum(differences) / n if n else None
    if mean is None or n < first:
        return Anytime(difference=mean, ci_low=None, ci_high=None, p=None, n=n)
    seen = [sample_of(differences[:count]) for count in range(first, n + 1)]
    evidence = [_log_evidence(sample) for sample in seen if sample]
    p = _p_of(max(evidence), first) if evidence else None
    last = seen[-1]
    if last is None:
        return Anytime(difference=mean, ci_low=None, ci_high=None, p=p, n=n)
    # mean^2 / s^2 of this sample beyond which its evidence is above the limit; s^2 of Lai = std^2 (n - 1) / n
    ratio = math.expm1((2 * _log_limit(confidence, first) + math.log(n)) / n)
    half = last.std * math.sqrt(ratio * last.degrees / n)
    return Anytime(difference=mean, ci_low=last.mean - half, ci_high=last.mean + half, p=p, n=n)


def _log_evidence(sample: Sample) -> float:
    """The logarithm of Lai's extended martingale (1 + t^2 / (n - 1))^(n / 2) / sqrt(n)."""
    return 0.5 * (sample.n * math.log1p(sample.t**2 / sample.degrees) - math.log(sample.n))


def _at(a: float, first: int) -> float:
    """The logarithm of the martingale at its start, for a t statistic of a there."""
    return 0.5 * (first * math.log1p(a * a / (first - 1)) - math.log(first))


def _p_of(log_evidence: float, first: int) -> float:
    """The alpha whose limit is `log_evidence`: 1 where that is less than the martingale can start with."""
    square = math.expm1((2 * log_evidence + math.log(first)) / first) * (first - 1)
    return _alpha(math.sqrt(square), first) if square > 0 else 1.0


def _alpha(a: float, first: int) -> float:
    """2 (1 - F(a) + a f(a)) for Student's t with first - 1 degrees of freedom."""
    degrees = first - 1
    log_density = math.lgamma(first / 2) - math.lgamma(degrees / 2) - 0.5 * math.log(degrees * math.pi)
    density = math.exp(log_density - first / 2 * math.log1p(a * a / degrees))
    return min(1.0, 2 * (t_tail(a, degrees) + a * density))


@lru_cache
def _log_limit(confidence: float, first: int) -> float:
    """The logarithm that the martingale exceeds at some n >= first with probability at most 1 - confidence."""
    from scipy.optimize import brentq  # imported late: listing studies must not wait for it

    alpha, high = 1 - confidence, 1.0
    while _alpha(high, first) > alpha:
        high *= 2
    return _at(float(brentq(lambda a: _alpha(a, first) - alpha, 0.0, high, xtol=1e-13)), first)
