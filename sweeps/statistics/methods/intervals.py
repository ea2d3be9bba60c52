"""Numbers with their uncertainty: intervals over seeds, and differences paired by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.methods.student import check_confidence, mean_and_std, sample_of, t_quantile, t_tail
from setsweep.sweeps.statistics.methods.two_stage import two_stage_interval


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
        ci_low, ci_high: ends of its interval; None for n <= 2 and where all differences are equal.
        p: of the two-sided paired t test that the mean difference is 0; None where the interval is.
        n: how many seeds both sides have.
        std: sample standard deviation of the differences; None for n < 2.
    """

    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    n: int
    std: float | None


@dataclass(frozen=True, kw_only=True)
class CutInterval:
    """An interval as it is printed: inside the range that its number can have.

    Args:
        ci_low, ci_high: the ends, cut.
        cut: whether an end was beyond the range, which is printed beside the interval.
    """

    ci_low: float
    ci_high: float
    cut: bool


def mean_interval(values: Sequence[float], *, confidence: float, pilot: int | None = None) -> MeanInterval:
    """The mean of finite `values` with the Student-t interval that covers it with probability `confidence`.

    The interval is ``mean +- t * std / sqrt(n)``, t being the (1 + confidence) / 2 quantile for n - 1 degrees of
    freedom. It rests on values that are independent and about normal; no bounds (such as 1 for an accuracy) are
    put on it, see `cut_to`.

    Args:
        values: finite.
        confidence: that the interval covers with.
        pilot: how many of the first values have decided how many there are: std and degrees of freedom of the interval
            are then those of the pilot, see `two_stage_interval`. None: none.

    Raises:
        ValueError: `confidence` is not between 0 and 1.
    """
    check_confidence(confidence)
    n = len(values)
    if n < 2:
        return MeanInterval(mean=values[0] if n else None, ci_low=None, ci_high=None, std=None, n=n)
    mean, std = mean_and_std(values)
    if pilot is not None and 2 <= pilot < n:
        staged = two_stage_interval(values, pilot=pilot, confidence=confidence)
        return MeanInterval(mean=mean, ci_low=staged.ci_low, ci_high=staged.ci_high, std=std, n=n)
    half = t_quantile((1 + confidence) / 2, n - 1) * std / math.sqrt(n)
    return MeanInterval(mean=mean, ci_low=mean - half, ci_high=mean + half, std=std, n=n)


def differences_by_seed(values: Mapping[int, float], baseline: Mapping[int, float]) -> list[float]:
    """``values[seed] - baseline[seed]`` for the seeds that both have, by ascending seed."""
    return [values[seed] - baseline[seed] for seed in sorted(values.keys() & baseline.keys())]


def paired_difference(
    values: Mapping[int, float], baseline: Mapping[int, float], *, confidence: float
) -> PairedDifference:
    """The mean of ``values[seed] - baseline[seed]`` over the seeds that both have, with its paired t test.

    Interval and p are undefined for two seeds and where the differences do not differ, see `sample_of`: with 27 tests
    on 360 test images, taking equal differences for certain makes the family-wise error 79 % at two seeds and 11 % at
    three (nominal 5 %); left undefined it is 0.0, 0.1, 4.4 and 4.8 % at two to five seeds. Adding the variance of the
    rounding would do as well, but needs the number of test images, which a few values do not tell.

    Raises:
        ValueError: `confidence` is not between 0 and 1.
    """
    differences = differences_by_seed(values, baseline)
    interval = mean_interval(differences, confidence=confidence)
    sample = sample_of(differences)
    return PairedDifference(
        difference=interval.mean,
        ci_low=interval.ci_low if sample else None,
        ci_high=interval.ci_high if sample else None,
        p=2 * t_tail(abs(sample.t), sample.degrees) if sample else None,
        n=interval.n,
        std=interval.std,
    )


def cut_to(ci_low: float, ci_high: float, *, low: float = 0.0, high: float = 1.0) -> CutInterval:
    """The part of an interval that lies between `low` and `high`, and whether that is not all of it.

    A t interval near the end of the range reaches beyond it. Cutting it keeps its coverage, as no true value is lost,
    while a transformation (logit) covers no better over a few seeds.

    Raises:
        ValueError: `low` is not below `high`, or the interval lies wholly outside.
    """
    if not low < high:
        raise ValueError(f"low must be < high, got {low} and {high}.")
    if ci_high < low or ci_low > high:
        raise ValueError(f"an interval must meet the range {low} to {high}, got {ci_low} to {ci_high}.")
    return CutInterval(ci_low=max(ci_low, low), ci_high=min(ci_high, high), cut=ci_low < low or ci_high > high)
