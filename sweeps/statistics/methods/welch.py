"""The difference of two means of independent samples, of no common variance (Welch 1947, Biometrika 34: 28-35)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.methods.student import check_confidence, sample_of, t_quantile, t_tail


@dataclass(frozen=True, kw_only=True)
class IndependentDifference:
    """A difference of means with its interval; None where it is not defined.

    Args:
        difference: the first mean minus the second; None where a side has no value.
        ci_low, ci_high: ends of its interval; None where a side has no t statistic, see `sample_of`.
        p: of the two-sided test that the means are equal; None where the interval is.
    """

    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None


def independent_difference(
    first: Sequence[float], second: Sequence[float], *, confidence: float
) -> IndependentDifference:
    """Welch's t test with the degrees of freedom of Satterthwaite.

    ``nu = (a + b)^2 / (a^2 / (m - 1) + b^2 / (n - 1))`` with a and b the squared standard errors of the means of m and
    n values.

    Raises:
        ValueError: `confidence` is not between 0 and 1.
    """
    check_confidence(confidence)
    if not first or not second:
        return IndependentDifference(difference=None, ci_low=None, ci_high=None, p=None)
    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    one, other = sample_of(first), sample_of(second)
    if one is None or other is None:
        return IndependentDifference(difference=difference, ci_low=None, ci_high=None, p=None)
    a, b = one.error**2, other.error**2
    degrees = (a + b) ** 2 / (a**2 / one.degrees + b**2 / other.degrees)
    error = math.sqrt(a + b)
    half = t_quantile((1 + confidence) / 2, degrees) * error
    return IndependentDifference(
        difference=difference,
        ci_low=difference - half,
        ci_high=difference + half,
        p=2 * t_tail(abs(difference) / error, degrees),
    )
