"""Intervals of several differences that hold together and say the same as the corrected p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.methods.corrections import Correction, corrected, family_size
from setsweep.sweeps.statistics.methods.intervals import PairedDifference
from setsweep.sweeps.statistics.methods.student import (
    MIN_SPREAD,
    Sample,
    check_confidence,
    is_below_level,
    t_quantile,
    t_tail,
)


@dataclass(frozen=True, kw_only=True)
class SimultaneousInterval:
    """One of several intervals that all cover their true differences with the probability asked for.

    Args:
        ci_low, ci_high: the ends; both None where the difference has no t test. An end at 0 is open where 0 is
            excluded; where the other is None then, the interval goes on without end: it tells the sign alone.
        p_corrected: the corrected p that the interval is made for; None where it is.
        excludes_zero: whether `p_corrected` is below 1 - confidence.
    """

    ci_low: float | None
    ci_high: float | None
    p_corrected: float | None
    excludes_zero: bool


def simultaneous_intervals(
    differences: Sequence[PairedDifference], correction: Correction, *, confidence: float, family: int | None = None
) -> list[SimultaneousInterval]:
    """The intervals that match the corrected p-values of `differences`: 0 is outside exactly where p < 1 - confidence.

    "bonferroni": t intervals with error alpha / m each. "none": those of the single differences. "holm": the sets that
    go with Holm's procedure (Strassburger and Bretz 2008; Guilbaud 2008), with its two-sided p. Of r of m that are
    significant it tells the sign alone, above or below 0 without another end, and the other intervals have an error of
    alpha / (m - r) each: what Holm's procedure gains in tests it takes from the intervals. Only where all m are
    significant do the ends say more: those with an error of alpha / m, as far as they are on the side of the sign. Ends
    for one direction alone would say more, but hold 0 where differences of both signs make Holm's p significant.

    The sign itself is sure where Holm's procedure is for directions (Shaffer 1980, independent tests); simulated with a
    shared baseline as well, see tests/benchmarks/statistics.

    Args:
        differences: each with its spread and n; those without a t test count as p = 1.
        correction: "holm", "bonferroni" or "none".
        confidence: that all intervals cover ("none": each).
        family: m; the number of `differences` where not given.

    Raises:
        ValueError: `confidence` is no probability, an unknown correction, a family smaller than its tests.
    """
    check_confidence(confidence)
    samples = [_sample(each) for each in differences]
    size = family_size(len(samples), family)
    p_values = corrected([_p(each) for each in samples], correction, family=family)
    significant = sum(is_below_level(p, confidence) for p in p_values)
    sharing = {"holm": size - significant or size, "bonferroni": size, "none": 1}[correction] or 1
    signs_alone = correction == "holm" and significant < size
    error = (1 - confidence) / sharing
    return [_interval(each, p, confidence, error, signs_alone) for each, p in zip(samples, p_values, strict=True)]


def _sample(difference: PairedDifference) -> Sample | None:
    mean, std, n = difference.difference, difference.std, difference.n
    if mean is None or std is None or n <= 2 or std < MIN_SPREAD:
        return None
    return Sample(mean=mean, std=std, n=n)


def _p(sample: Sample | None) -> float | None:
    return None if sample is None else 2 * t_tail(abs(sample.t), sample.degrees)


def _interval(
    sample: Sample | None, p: float | None, confidence: float, error: float, signs_alone: bool
) -> SimultaneousInterval:
    if sample is None or p is None:
        return SimultaneousInterval(ci_low=None, ci_high=None, p_corrected=None, excludes_zero=False)
    half, significant = _half_width(sample, error), is_below_level(p, confidence)
    low: float | None = sample.mean - half
    high: float | None = sample.mean + half
    if significant and signs_alone:
        low, high = (0.0, None) if sample.mean > 0 else (None, 0.0)
    elif significant and sample.mean > 0:
        low = max(0.0, sample.mean - half)
    elif significant:
        high = min(0.0, sample.mean + half)
    return SimultaneousInterval(ci_low=low, ci_high=high, p_corrected=p, excludes_zero=significant)


def _half_width(sample: Sample, error: float) -> float:
    return t_quantile(1 - error / 2, sample.degrees) * sample.error
