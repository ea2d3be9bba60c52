"""Planned looks: testing the same comparison again as seeds come in, at one error for all looks together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from setsweep.sweeps.statistics.methods.student import check_confidence, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

NODES = 40
"""Nodes of each integral, and terms of each series: the overall p is sure to 1 % of itself, and to 0.1 % where no look
is one seed after another."""


@dataclass(frozen=True, kw_only=True)
class PlannedLooks:
    """The looks of a comparison, and the confidence of each that keeps the error of all.

    Args:
        looks: the numbers of seeds at which it is tested, ascending.
        level: the p-value below which a look is significant.
        confidence: 1 - level: of the interval at a look, so that all looks' intervals cover together.
    """

    looks: tuple[int, ...]
    level: float
    confidence: float


def planned_looks(looks: Sequence[int], *, confidence: float) -> PlannedLooks:
    """Pocock's (1977) boundary: the same p-value at each look, such that all looks together have 1 - confidence.

    Exact for the t statistics of normal differences, also of few seeds. Pocock's constants are those of normal
    statistics; taking their p-values for t statistics (Jennison and Turnbull 2000, sec. 4.4) gives looks at 5, 10, 15,
    20 seeds an error of 5.4 % instead of 5 %. The interval at a look is the t interval with the `confidence` found
    here (Jennison and Turnbull's repeated intervals).

    Args:
        looks: numbers of seeds, ascending, from 3 to 1000; all that are planned, also those not yet reached.
        confidence: over all looks.

    Raises:
        ValueError: looks that are not so, or `confidence` is no probability.
    """
    check_confidence(confidence)
    _check(looks)
    level = _level(tuple(looks), 1 - confidence)
    return PlannedLooks(looks=tuple(looks), level=level, confidence=1 - level)


def overall_p(smallest: float, looks: Sequence[int]) -> float:
    """The p-value over all planned looks of the smallest p seen at those reached; see `planned_looks`.

    It is below alpha where a look's p was below the level of `planned_looks` at 1 - alpha; between `smallest` and
    `smallest` times the number of looks.

    Raises:
        ValueError: `smallest` is not between 0 and 1, or looks that are not ascending from 3 to 1000.
    """
    _check(looks)
    if not 0 <= smallest <= 1:
        raise ValueError(f"a p-value must be between 0 and 1, got {smallest}.")
    if smallest in (0.0, 1.0) or len(looks) == 1:
        return smallest
    return max(smallest, min(1.0, smallest * len(looks), 1 - _never(smallest, looks)))


@lru_cache
def _level(looks: tuple[int, ...], alpha: float) -> float:
    from scipy.optimize import brentq  # imported late: listing studies must not wait for it

    if len(looks) == 1:
        return alpha
    return float(brentq(lambda p: overall_p(p, looks) - alpha, alpha / len(looks), alpha, xtol=1e-6 * alpha))


def _never(p: float, looks: Sequence[int]) -> float:
    """The probability that the p of no look is below `p`, if there is no difference.

    With S and Q the sum of the first n values and of their squares, u = S / sqrt(Q) has one t to it, and is Markov in
    n: with d more values, ``u' = r sqrt(u^2 + d) sin(psi + atan(u / sqrt(d)))``, r^2 being beta((n + 1) / 2, (d - 1) /
    2), psi in +-pi/2 with a density as cos^(n-1), both independent of u (the values' direction is uniform on a sphere).
    So the probability to stay inside from a look on, as a function of u, follows from that of the next look.
    """
    import numpy as np  # imported late: listing studies must not wait for it

    limits = [_limit(p, n) for n in looks]
    at = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    stays: Array = np.ones(1)  # as Chebyshev coefficients over u / limit
    for (now, limit), (then, next_limit) in reversed(list(pairwise(zip(looks, limits, strict=True)))):
        values = _stays_on(limit * at, now, then - now, next_limit, stays)
        stays = np.asarray(np.polynomial.chebyshev.chebfit(at, values, NODES - 1), dtype=np.float64)
    first, limit = looks[0], limits[0]
    end = np.array(math.asin(limit / math.sqrt(first)))
    return float(_mean_over_angles(-end, end, np.array(math.sqrt(first) / limit), np.zeros(()), first - 2, stays))


def _limit(p: float, n: int) -> float:
    """The u of n values whose t statistic has this p."""
    t = t_quantile(1 - p / 2, n - 1)
    return math.sqrt(n * t * t / (t * t + n - 1))


def _stays_on(u: Array, n: int, more: int, limit: float, stays: Array) -> Array:
    """The probability to be within +-limit after `more` values, and from there on as `stays` has it, for each u."""
    import numpy as np

    radius, weights = _radii(n, more)
    reach = np.sqrt(u * u + more)[:, None] * radius
    turn = np.broadcast_to(np.arctan2(u, math.sqrt(more))[:, None], reach.shape)
    inside = np.arcsin(np.minimum(1.0, limit / reach))
    total = np.zeros_like(reach)
    # The sine is within the limit around 0, and again on the far side of its top and bottom.
    for centre in (-math.pi, 0.0, math.pi):
        total += _mean_over_angles(centre - inside - turn, centre + inside - turn, reach / limit, turn, n - 1, stays)
    found: Array = total @ weights
    return found


def _radii(n: int, more: int) -> tuple[Array, Array]:
    """Values of r and their weights; see `_never`."""
    import numpy as np
    from scipy.special import roots_jacobi

    if more == 1:
        return np.ones(1), np.ones(1)
    nodes, weights = roots_jacobi(NODES, (more - 1) / 2 - 1, (n + 1) / 2 - 1)
    return np.sqrt((1 + nodes) / 2), weights / weights.sum()


def _mean_over_angles(low: Array, high: Array, reach: Array, turn: Array, power: int, stays: Array) -> Array:
    """The integral of ``stays(reach sin(psi + turn))`` over psi from `low` to `high`, with a density as cos^power."""
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    # Beyond ten of its standard deviations the density is nothing, and nodes there would be lost.
    end = min(math.pi / 2, 10 / math.sqrt(power + 1))
    low, high = np.clip(low, -end, end), np.clip(high, -end, end)
    half = (high - low)[..., None] / 2
    psi = low[..., None] + half * (1 + nodes)
    scale = math.exp(math.lgamma(power / 2 + 1) - math.lgamma(power / 2 + 0.5)) / math.sqrt(math.pi)
    where = np.clip(reach[..., None] * np.sin(psi + turn[..., None]), -1, 1)
    found: Array = (np.polynomial.chebyshev.chebval(where, stays) * np.cos(psi) ** power * half) @ weights * scale
    return found


def _check(looks: Sequence[int]) -> None:
    ascending = all(before < now for before, now in pairwise(looks))
    if not looks or not ascending or looks[0] < 3 or looks[-1] > 1000:
        raise ValueError(f"looks must be ascending numbers of seeds from 3 to 1000, got {list(looks)}.")
