"""What is told of the primary metric's contrasts beside their p: how large, how sure, what could have been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.contrasts import Contrast
from setsweep.sweeps.statistics.methods.corrections import corrected
from setsweep.sweeps.statistics.methods.effects import Effect, better_on_a_seed, hedges_g
from setsweep.sweeps.statistics.methods.equivalence import equivalence
from setsweep.sweeps.statistics.methods.intervals import PairedDifference, differences_by_seed
from setsweep.sweeps.statistics.methods.power import detectable
from setsweep.sweeps.statistics.methods.simultaneous import SimultaneousInterval, simultaneous_intervals
from setsweep.sweeps.statistics.methods.student import is_below_level
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study
from setsweep.trainables.evaluation.metric import Metric

POINTS = 100  # to a whole


@dataclass(frozen=True)
class Found:
    """What is known of a contrast: both sides by seed, and their difference."""

    contrast: Contrast
    values: Mapping[int, float]
    baseline: Mapping[int, float]
    difference: PairedDifference

    @property
    def differences(self) -> list[float]:
        """Of the seeds that both have."""
        return differences_by_seed(self.values, self.baseline)


@dataclass(frozen=True, kw_only=True)
class Details:
    """More of one contrast; None where its differences have no t test.

    Args:
        simultaneous_low, simultaneous_high: ends of the interval that covers together with those of all other contrasts
            of the primary metric, see `simultaneous_intervals` (one end alone: the sign is sure, and no more); None
            where one looks more than once, or in two stages.
        effect, effect_low, effect_high: Hedges' g_z, see `hedges_g`.
        better, better_low, better_high: the probability to beat the baseline on a new seed, see `better_on_a_seed`.
        detectable: the smallest true difference that such a test finds with probability 0.8, at the level of the first
            step of the correction; None as those.
        p_equivalent: that the difference is the margin of the study or more, corrected as `p`; see `equivalence`.
        equivalent: whether `p_equivalent` is below 1 - confidence; None where the study has no margin.
    """

    simultaneous_low: float | None
    simultaneous_high: float | None
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    better: float | None
    better_low: float | None
    better_high: float | None
    detectable: float | None
    p_equivalent: float | None
    equivalent: bool | None


def details_of(found: Sequence[Found], study: Study) -> list[Details]:
    """Of all contrasts of the primary metric, in the order given; they are one family."""
    settings, family = study.compare, len(found)
    margins = [_p_equivalent(each, settings) for each in found]
    claims = corrected(margins, settings.correction)
    together: Sequence[SimultaneousInterval | None] = [None] * family
    once = settings.looks is None and study.pilot is None
    if once:
        together = simultaneous_intervals(
            [each.difference for each in found], settings.correction, confidence=settings.confidence
        )
    level = first_level(settings, family) if once else None
    return [
        _details(each, interval, claim, settings, level)
        for each, interval, claim in zip(found, together, claims, strict=True)
    ]


def first_level(settings: Compare, family: int) -> float:
    """The p below which the first of a family of tests is significant."""
    return (1 - settings.confidence) / (1 if settings.correction == "none" else max(family, 1))


def _details(
    found: Found, interval: SimultaneousInterval | None, claim: float | None, settings: Compare, level: float | None
) -> Details:
    differences, std = found.differences, found.difference.std
    g = hedges_g(differences, confidence=settings.confidence)
    better = better_on_a_seed(differences, confidence=settings.confidence)
    return Details(
        simultaneous_low=interval.ci_low if interval else None,
        simultaneous_high=interval.ci_high if interval else None,
        effect=g.value,
        effect_low=g.ci_low,
        effect_high=g.ci_high,
        better=better.value,
        better_low=better.ci_low,
        better_high=better.ci_high,
        detectable=_detectable(g, std, level),
        p_equivalent=claim,
        equivalent=None if settings.equivalent is None else is_below_level(claim, settings.confidence),
    )


def _detectable(g: Effect, std: float | None, level: float | None) -> float | None:
    return None if g.value is None or std is None or level is None else std * detectable(g.n, alpha=level)


def _p_equivalent(found: Found, settings: Compare) -> float | None:
    if settings.equivalent is None:
        return None
    unit = POINTS if Metric.parse(found.contrast.metric).is_share else 1
    return equivalence(found.differences, margin=settings.equivalent / unit, confidence=settings.confidence).p
