"""What a paired t test of so many seeds can see: its power, and the smallest difference it detects."""

from __future__ import annotations

import math
from functools import lru_cache

from setsweep.sweeps.statistics.methods.student import noncentral_t, t_quantile


def power(effect: float, n: int, *, alpha: float) -> float:
    """The probability that a two-sided paired t test of n seeds is significant at `alpha`.

    ``P(|T| > t(1 - alpha / 2; n - 1))``, T being noncentral t with n - 1 degrees of freedom and noncentrality
    ``effect * sqrt(n)``: exact for normal differences.

    Args:
        effect: the true mean difference in standard deviations of the differences.
        n: seeds that both sides have.
        alpha: of this test; alpha / m for the first step of Holm over m tests.

    Raises:
        ValueError: n < 3, for which there is no test (see `sample_of`), or `alpha` is no probability.
    """
    _check(n, alpha)
    limit, shift = t_quantile(1 - alpha / 2, n - 1), abs(effect) * math.sqrt(n)
    return 1 - noncentral_t(limit, n - 1, shift) + noncentral_t(-limit, n - 1, shift)


@lru_cache
def detectable(n: int, *, alpha: float, power_wanted: float = 0.8) -> float:
    """The smallest difference that a paired t test of n seeds finds with `power_wanted`, in standard deviations.

    Times the standard deviation of the differences it is a difference in points. No star is not "equal": smaller true
    differences than this are missed more often than 1 - power_wanted.

    Args:
        n: seeds that both sides have.
        alpha: see `power`.
        power_wanted: above alpha, below 1.

    Raises:
        ValueError: see `power`, or `power_wanted` is not between `alpha` and 1.
    """
    from scipy.optimize import brentq  # imported late: listing studies must not wait for it

    _check(n, alpha)
    if not alpha < power_wanted < 1:
        raise ValueError(f"power_wanted must be between alpha = {alpha} and 1, got {power_wanted}.")
    high = 1.0
    while power(high, n, alpha=alpha) < power_wanted:
        high *= 2
    return float(brentq(lambda effect: power(effect, n, alpha=alpha) - power_wanted, 0.0, high, xtol=1e-13))


def _check(n: int, alpha: float) -> None:
    if n < 3:
        raise ValueError(f"n must be >= 3, got {n}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}.")
