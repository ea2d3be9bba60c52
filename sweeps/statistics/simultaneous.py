"""Intervals of several differences that hold together and say the same as the corrected p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.corrections import Correction, corrected, family_size
from setsweep.sweeps.statistics.intervals import PairedDifference
from setsweep.sweeps.statistics.student import MIN_SPREAD, Sample, check_confidence, is_below_level, t_quantile, t_tail


@dataclass(frozen=True, kw_only=True)
class SimultaneousInterval:
    """One of several intervals that all cover their true differences with the probability asked for.

    Args:
        ci_low, ci_high: the ends; None where the difference has no t test. An end at 0 is open where 0 is excluded.
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

    "bonferroni": t intervals with error alpha / m each. "none": those of the single differences. "holm": the intervals
    compatible with Holm's procedure (Strassburger and Bretz 2008; Guilbaud 2008), once for the lower and once for the
    upper ends, with alpha / 2 each. With r of m differences significantly above 0, the lower end is that of a t
    interval with error alpha / (m - r) where not significant and 0 (open) where significant: what Holm's procedure
    gains in tests it takes from the intervals. Only where all m are significant in one direction do the ends say more:
    the larger of 0 and the end with error alpha / m.

    The corrected p of "holm" is that of the two directions, each corrected for itself. It equals `corrected` wherever
    all significant differences have one sign, and is larger otherwise; two-sided Holm rejects a little more there, but
    has no bounded intervals of its own.

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
    if correction == "holm":
        return _compatible_with_holm(samples, confidence, size)
    p_values = corrected([_p(each) for each in samples], correction, family=family)
    error = (1 - confidence) / (1 if correction == "none" else size)
    return [_interval(each, p, confidence, error) for each, p in zip(samples, p_values, strict=True)]


def _sample(difference: PairedDifference) -> Sample | None:
    mean, std, n = difference.difference, difference.std, difference.n
    if mean is None or std is None or n <= 2 or std < MIN_SPREAD:
        return None
    return Sample(mean=mean, std=std, n=n)


def _p(sample: Sample | None) -> float | None:
    return None if sample is None else 2 * t_tail(abs(sample.t), sample.degrees)


def _interval(sample: Sample | None, p: float | None, confidence: float, error: float) -> SimultaneousInterval:
    if sample is None or p is None:
        return SimultaneousInterval(ci_low=None, ci_high=None, p_corrected=None, excludes_zero=False)
    half = _half_width(sample, error)
    return SimultaneousInterval(
        ci_low=sample.mean - half,
        ci_high=sample.mean + half,
        p_corrected=p,
        excludes_zero=is_below_level(p, confidence),
    )


def _compatible_with_holm(samples: Sequence[Sample | None], confidence: float, size: int) -> list[SimultaneousInterval]:
    lower, p_above = _lower_ends(samples, confidence, size)
    upper, p_below = _lower_ends([_turned(each) for each in samples], confidence, size)
    found = []
    for low, high, above, below in zip(lower, upper, p_above, p_below, strict=True):
        p = None if above is None or below is None else min(1.0, 2 * min(above, below))
        found.append(
            SimultaneousInterval(
                ci_low=low,
                ci_high=None if high is None else -high,
                p_corrected=p,
                excludes_zero=is_below_level(p, confidence),
            )
        )
    return found


def _lower_ends(
    samples: Sequence[Sample | None], confidence: float, size: int
) -> tuple[list[float | None], list[float | None]]:
    """The lower ends and the one-sided p-values that Holm corrects, at an error of (1 - confidence) / 2."""
    alpha = 1 - confidence
    one_sided = [None if each is None else t_tail(each.t, each.degrees) for each in samples]
    p_values = corrected(one_sided, "holm", family=size)
    above = [p is not None and is_below_level(2 * p, confidence) for p in p_values]
    left = size - sum(above)
    ends: list[float | None] = []
    for sample, is_above in zip(samples, above, strict=True):
        if sample is None:
            ends.append(None)
        elif not is_above:
            ends.append(sample.mean - _half_width(sample, alpha / left))
        else:
            ends.append(0.0 if left else max(0.0, sample.mean - _half_width(sample, alpha / size)))
    return ends, p_values


def _turned(sample: Sample | None) -> Sample | None:
    return None if sample is None else Sample(mean=-sample.mean, std=sample.std, n=sample.n)


def _half_width(sample: Sample, error: float) -> float:
    return t_quantile(1 - error / 2, sample.degrees) * sample.error
