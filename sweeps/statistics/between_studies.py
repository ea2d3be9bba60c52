"""Differences between arms of two studies, paired by seed where the two have seeds and data in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from setsweep.sweeps.statistics.methods.corrections import Correction, corrected
from setsweep.sweeps.statistics.methods.intervals import MeanInterval, mean_interval, paired_difference
from setsweep.sweeps.statistics.methods.student import is_below_level
from setsweep.sweeps.statistics.methods.welch import independent_difference
from setsweep.sweeps.study.study import Point

LEAST_PAIRS = 3  # two have no test


@dataclass(frozen=True, kw_only=True)
class Side:
    """One configuration of a study, as it was confirmed.

    Args:
        arm, point: where.
        data: the whole configuration of its data.
        values: of the metric, by seed.
    """

    arm: str
    point: Point
    data: Mapping[str, Any]
    values: Mapping[int, float]


@dataclass(frozen=True, kw_only=True)
class Between:
    """The first side minus the second.

    Args:
        first, second: what is compared.
        means: of the two, each with its interval.
        difference: None where a side has no value.
        ci_low, ci_high, p: of a paired t test, else of Welch's; None where that is not defined.
        p_corrected: corrected over all differences that were asked for.
        significant: whether it is below 1 - confidence.
        n: pairs; None where the two are not paired.
        unpaired: why not; empty where they are.
    """

    first: Side
    second: Side
    means: tuple[MeanInterval, MeanInterval]
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_corrected: float | None = None
    significant: bool = False
    n: int | None
    unpaired: str


def between_studies(pairs: Sequence[tuple[Side, Side]], *, confidence: float, correction: Correction) -> list[Between]:
    """Every difference that is asked for; their p-values are one family."""
    found = [_between(first, second, confidence) for first, second in pairs]
    p_values = corrected([each.p for each in found], correction)
    return [
        replace(each, p_corrected=p, significant=is_below_level(p, confidence))
        for each, p in zip(found, p_values, strict=True)
    ]


def _between(first: Side, second: Side, confidence: float) -> Between:
    means = tuple(mean_interval(list(side.values.values()), confidence=confidence) for side in (first, second))
    why = _why_unpaired(first, second)
    if why:
        own = independent_difference([*first.values.values()], [*second.values.values()], confidence=confidence)
        numbers, n = vars(own), None
    else:
        paired = paired_difference(first.values, second.values, confidence=confidence)
        numbers = {name: getattr(paired, name) for name in ("difference", "ci_low", "ci_high", "p")}
        n = paired.n
    return Between(first=first, second=second, means=(means[0], means[1]), n=n, unpaired=why, **numbers)


def _why_unpaired(first: Side, second: Side) -> str:
    """Why seeds of the two do not belong together; empty where they do."""
    names = [*first.data, *(name for name in second.data if name not in first.data)]
    other = [name for name in names if first.data.get(name) != second.data.get(name)]
    if other:
        values = (f"{name} {first.data.get(name)} and {second.data.get(name)}" for name in other)
        return f"other data: {', '.join(values)}"
    common = len(first.values.keys() & second.values.keys())
    return "" if common >= LEAST_PAIRS else f"{common or 'no'} seed{'' if common == 1 else 's'} in common"
