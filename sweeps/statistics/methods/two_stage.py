"""The interval of a mean whose number of seeds follows from a pilot: the second stage of Stein's rule.

The first, how many seeds there are to be, is `sweeps.planning.precision`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.methods.student import MIN_SPREAD, check_confidence, mean_and_std, t_quantile


@dataclass(frozen=True, kw_only=True)
class TwoStage:
    """A mean whose number of values was decided by the first of them.

    Args:
        mean: of all values.
        ci_low, ci_high: ends of the interval by the pilot's variance; None where the pilot's values are all equal.
        pilot_std: standard deviation of the pilot.
        pilot, n: how many values the pilot has, and how many there are.
    """

    mean: float
    ci_low: float | None
    ci_high: float | None
    pilot_std: float
    pilot: int
    n: int


def two_stage_interval(values: Sequence[float], *, pilot: int, confidence: float) -> TwoStage:
    """The mean of all values with the second stage's interval, ``mean +- t s0 / sqrt(n)``.

    s0 and the degrees of freedom of t are those of the first `pilot` values, although there are more: only so is it
    exact, since n depends on s0 and nothing else (Stein 1945). The t interval of all n values covers less than it
    says where n was decided by looking at the spread.

    Args:
        values: the pilot's, then the rest.
        pilot: how many the first stage had.
        confidence: of the interval.

    Raises:
        ValueError: a pilot of fewer than two, fewer values than that, or `confidence` is no probability.
    """
    check_confidence(confidence)
    if pilot < 2:
        raise ValueError(f"a pilot must have >= 2 runs, got {pilot}.")
    n = len(values)
    if n < pilot:
        raise ValueError(f"there must be at least as many values as the pilot has = {pilot}, got {n}.")
    mean = math.fsum(values) / n
    _, std = mean_and_std(values[:pilot])
    if std < MIN_SPREAD:
        return TwoStage(mean=mean, ci_low=None, ci_high=None, pilot_std=std, pilot=pilot, n=n)
    half = t_quantile((1 + confidence) / 2, pilot - 1) * std / math.sqrt(n)
    return TwoStage(mean=mean, ci_low=mean - half, ci_high=mean + half, pilot_std=std, pilot=pilot, n=n)
