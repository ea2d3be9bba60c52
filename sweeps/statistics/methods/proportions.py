"""Shares of runs, with intervals that hold for any number of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from setsweep.sweeps.statistics.methods.student import check_confidence


@dataclass(frozen=True, kw_only=True)
class RateInterval:
    """A share of runs and its interval.

    Args:
        rate: failures / runs.
        ci_low, ci_high: ends of the interval, within 0 and 1.
        failures, runs: the counts.
    """

    rate: float
    ci_low: float
    ci_high: float
    failures: int
    runs: int


@lru_cache
def failure_rate(failures: int, runs: int, *, confidence: float) -> RateInterval:
    """The rate of failures with the interval of Clopper and Pearson (1934).

    Its ends are quantiles of beta distributions: ``B((1 - confidence) / 2; failures, runs - failures + 1)`` and
    ``B((1 + confidence) / 2; failures + 1, runs - failures)``, and 0 or 1 where no or every run failed. It covers the
    true rate with at least `confidence`, whatever that is, if runs fail independently; often with more.

    Raises:
        ValueError: no run, counts that do not fit, or `confidence` is no probability.
    """
    check_confidence(confidence)
    if runs < 1:
        raise ValueError(f"runs must be >= 1, got {runs}.")
    if not 0 <= failures <= runs:
        raise ValueError(f"failures must be between 0 and runs = {runs}, got {failures}.")
    from scipy.special import betaincinv  # imported late: listing studies must not wait for it

    tail, passed = (1 - confidence) / 2, runs - failures
    return RateInterval(
        rate=failures / runs,
        ci_low=float(betaincinv(failures, passed + 1, tail)) if failures else 0.0,
        ci_high=float(betaincinv(failures + 1, passed, 1 - tail)) if passed else 1.0,
        failures=failures,
        runs=runs,
    )


def wilson(hits: float, trials: int, *, confidence: float) -> tuple[float, float]:
    """The ends of Wilson's interval (1927) of a share.

    They are the shares from which ``hits / trials`` is just z standard errors away: the interval covers about as often
    as it says on average over shares, where that of Clopper and Pearson covers at least as often for each.

    Args:
        hits: between 0 and `trials`; a half is a tie.
        trials: one or more.
        confidence: between 0 and 1.
    """
    from scipy.special import ndtri  # imported late: listing studies must not wait for it

    square = float(ndtri((1 + confidence) / 2)) ** 2
    middle = (hits + square / 2) / (trials + square)
    half = math.sqrt(square * (hits * (trials - hits) / trials + square / 4)) / (trials + square)
    return max(0.0, middle - half), min(1.0, middle + half)
