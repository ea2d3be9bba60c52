"""A paired difference as a study looks at it: once, in two stages, at planned numbers of seeds, or at any time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from setsweep.sweeps.statistics.methods.anytime import anytime
from setsweep.sweeps.statistics.methods.intervals import PairedDifference, differences_by_seed, paired_difference
from setsweep.sweeps.statistics.methods.looks import overall_p, planned_looks
from setsweep.sweeps.statistics.methods.student import sample_of, t_quantile, t_tail
from setsweep.sweeps.study.parts import Compare


def looked_at(
    values: Mapping[int, float],
    baseline: Mapping[int, float],
    settings: Compare,
    *,
    seeds: Sequence[int],
    pilot: bool = False,
) -> PairedDifference:
    """`paired_difference`, with interval and p that hold over all looks where `settings` ask for more than one.

    Args:
        values, baseline: seed to value.
        settings: confidence and looks.
        seeds: of the confirmation, in the order in which they were added.
        pilot: whether more seeds may follow those, as many as they have decided: interval and p are then of Stein's
            second stage.
    """
    if pilot:
        return _of_two_stages(values, baseline, settings.confidence, [*seeds])
    found = paired_difference(values, baseline, confidence=settings.confidence)
    if settings.looks is None:
        return found
    if settings.looks == "anytime":
        return _at_any_time(found, values, baseline, settings)
    return _at_planned_looks(found, values, baseline, settings, seeds)


def _of_two_stages(
    values: Mapping[int, float], baseline: Mapping[int, float], confidence: float, pilot: Sequence[int]
) -> PairedDifference:
    """The standard deviation of the pilot's differences, with its degrees of freedom, and the mean of all."""
    found = paired_difference(values, baseline, confidence=confidence)
    first = sample_of(differences_by_seed(_of(values, pilot), baseline))
    if first is None or found.difference is None or found.n == first.n:
        return found
    error = first.std / math.sqrt(found.n)
    half = t_quantile((1 + confidence) / 2, first.degrees) * error
    return replace(
        found,
        ci_low=found.difference - half,
        ci_high=found.difference + half,
        p=2 * t_tail(abs(found.difference) / error, first.degrees),
    )


def _at_any_time(
    found: PairedDifference, values: Mapping[int, float], baseline: Mapping[int, float], settings: Compare
) -> PairedDifference:
    valid = anytime(differences_by_seed(values, baseline), confidence=settings.confidence)
    return replace(found, ci_low=valid.ci_low, ci_high=valid.ci_high, p=valid.p)


def _at_planned_looks(
    found: PairedDifference,
    values: Mapping[int, float],
    baseline: Mapping[int, float],
    settings: Compare,
    seeds: Sequence[int],
) -> PairedDifference:
    """A failed seed makes its look and those after it smaller; undefined where a look has no more than the last."""
    assert isinstance(settings.looks, tuple)
    reached = [seeds[:look] for look in settings.looks if look <= len(seeds)]
    samples = [_of(values, each) for each in reached]
    each = [paired_difference(sample, baseline, confidence=settings.confidence) for sample in samples]
    numbers = [*(one.n for one in each), *(look for look in settings.looks if look > len(seeds))]
    p_values = [one.p for one in each if one.p is not None]
    ascending = all(before < after for before, after in pairwise(numbers))
    if not p_values or not ascending or numbers[0] < 3:
        return replace(found, ci_low=None, ci_high=None, p=None)
    plan = planned_looks(numbers, confidence=settings.confidence)
    last = paired_difference(values, baseline, confidence=plan.confidence)
    return replace(last, p=overall_p(min(p_values), numbers))


def _of(values: Mapping[int, float], seeds: Sequence[int]) -> dict[int, float]:
    return {seed: values[seed] for seed in seeds if seed in values}
