"""Equality as a claim: two one-sided tests against a margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.methods.student import check_confidence, is_below_level, sample_of, t_quantile, t_tail


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Whether a mean difference lies within a margin of 0; None where the differences have no t test.

    Args:
        margin: the largest difference that counts as none, in the unit of the values.
        p: of the hypothesis that the difference is at or beyond the margin.
        ci_low, ci_high: the interval that lies within the margin exactly where p < alpha.
        equivalent: whether p < alpha.
        n: how many differences.
    """

    margin: float
    p: float | None
    ci_low: float | None
    ci_high: float | None
    equivalent: bool
    n: int


def equivalence(differences: Sequence[float], *, margin: float, confidence: float) -> Equivalence:
    """Two one-sided paired t tests (Schuirmann 1987) that the mean difference is within `margin` of 0.

    p is the larger of the p-values of "mean <= -margin" and "mean >= margin", and alpha = 1 - confidence that of each,
    which needs no correction, as both must be rejected. The interval that goes with it has confidence 1 - 2 alpha: 90 %
    for alpha = 5 %. Its false claims are at most alpha for normal differences.

    Raises:
        ValueError: a margin that is not above 0, or `confidence` is no probability.
    """
    check_confidence(confidence)
    if not (margin > 0 and math.isfinite(margin)):
        raise ValueError(f"margin must be > 0, got {margin}.")
    sample = sample_of(differences)
    if sample is None:
        return Equivalence(margin=margin, p=None, ci_low=None, ci_high=None, equivalent=False, n=len(differences))
    p = t_tail((margin - abs(sample.mean)) / sample.error, sample.degrees)
    half = t_quantile(confidence, sample.degrees) * sample.error
    return Equivalence(
        margin=margin,
        p=p,
        ci_low=sample.mean - half,
        ci_high=sample.mean + half,
        equivalent=is_below_level(p, confidence),
        n=sample.n,
    )
