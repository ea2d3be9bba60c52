"""Seeds that lie far from the others of their configuration: worth a look at what went wrong there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.methods.student import MIN_SPREAD, mean_and_std, t_tail

FAR = 5.0
FALSE_ALARM = 0.01
NORMAL = 1.4826
"""The standard deviation of a normal law over the median of its absolute deviations."""


@dataclass(frozen=True, kw_only=True)
class Unusual(OfCandidate):
    """A seed far from its configuration's median.

    Args:
        candidate: of which it is a seed.
        seed: which.
        value: of the metric.
        deviations: how many robust standard deviations it lies off; negative where below.
    """

    candidate: Candidate
    seed: int
    value: float
    deviations: float


def unusual_seeds(aggregates: Sequence[Aggregate]) -> list[Unusual]:
    """The seeds more than five robust standard deviations from the median of their configuration, and not by chance.

    The robust standard deviation is 1.4826 times the median absolute deviation. That of a few seeds is often small by
    chance: of five normal values one lies so far off in 11 % of configurations. So a seed must also be far from the
    mean of the others by a t test of one against the rest, whose p times the number of all values is below 1 %: in at
    most so many tables of normal values is anything said.

    Args:
        aggregates: of one metric, each of another configuration.
    """
    count = sum(each.n for each in aggregates)
    return [
        Unusual(candidate=each.candidate, seed=seed, value=each.numbers[seed], deviations=deviations)
        for each in aggregates
        for seed, deviations in _far(each.numbers).items()
        if _p_of_one(each.numbers, seed) * count < FALSE_ALARM
    ]


def _far(values: Mapping[int, float]) -> dict[int, float]:
    """How many robust standard deviations each of the far seeds lies off."""
    if len(values) < 4:
        return {}
    middle = median(values.values())
    std = NORMAL * median(abs(value - middle) for value in values.values())
    if std < MIN_SPREAD:
        return {}
    off = {seed: (value - middle) / std for seed, value in values.items()}
    return {seed: deviations for seed, deviations in off.items() if abs(deviations) > FAR}


def _p_of_one(values: Mapping[int, float], seed: int) -> float:
    """Two-sided p of the t test that one value is of the law of the others."""
    mean, std = mean_and_std([value for other, value in values.items() if other != seed])
    others = len(values) - 1
    if std < MIN_SPREAD:
        return 0.0
    return 2 * t_tail(abs(values[seed] - mean) / (std * math.sqrt(1 + 1 / others)), others - 1)
