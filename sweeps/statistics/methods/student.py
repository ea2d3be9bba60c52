"""Student's t: its quantile and tail, and the sample of differences that a t test is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MIN_SPREAD = 1e-9
"""Differences with a smaller standard deviation than this count as equal: rounding alone makes them differ."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Values whose t statistic is defined: at least three, and not all equal.

    Args:
        mean: their mean.
        std: their standard deviation (n - 1 in the denominator).
        n: how many.
    """

    mean: float
    std: float
    n: int

    @property
    def degrees(self) -> int:
        """The degrees of freedom of `std`."""
        return self.n - 1

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.std / math.sqrt(self.n)

    @property
    def t(self) -> float:
        """The t statistic of a mean of 0."""
        return self.mean / self.error


def sample_of(values: Sequence[float]) -> Sample | None:
    """The sample; None where no t statistic is defined: n <= 2, or a standard deviation below `MIN_SPREAD`.

    An accuracy is a count, so that a few differences of accuracies are all equal by chance; their t statistic is
    infinite then and says nothing. Two differences are equal so often that no test can be made of two.
    """
    if len(values) <= 2:
        return None
    mean, std = mean_and_std(values)
    return None if std < MIN_SPREAD else Sample(mean=mean, std=std, n=len(values))


def mean_and_std(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (n - 1 in the denominator) of at least two values, in whatever order."""
    # Equal values must have exactly zero spread, whatever the rounding of their sum.
    mean = values[0] if min(values) == max(values) else math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def check_confidence(confidence: float) -> None:
    """Refuse what is no probability.

    Raises:
        ValueError: `confidence` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}.")


def is_below_level(p: float | None, confidence: float) -> bool:
    """Whether a p-value is defined and below 1 - confidence."""
    # Compared as a sum, because 1 - 0.95 is a little more than 0.05.
    return p is not None and p + confidence < 1


@lru_cache
def t_quantile(probability: float, degrees: float) -> float:
    """The value that Student's t with `degrees` degrees of freedom stays below with `probability`."""
    from scipy.special import stdtrit  # imported late: listing studies must not wait for it

    return float(stdtrit(degrees, probability))


def t_tail(t: float, degrees: float) -> float:
    """The probability that Student's t with `degrees` degrees of freedom is above `t`."""
    from scipy.special import stdtr  # imported late: listing studies must not wait for it

    return float(stdtr(degrees, -t))


def noncentral_t(t: float, degrees: int, shift: float) -> float:
    """The probability that noncentral t with noncentrality `shift` is at most `t`."""
    from scipy.special import nctdtr  # imported late: listing studies must not wait for it

    found = float(nctdtr(degrees, shift, t))
    # SciPy has no number where the probability differs from 0 or 1 by less than a double can hold.
    return float(t > shift) if math.isnan(found) else found
