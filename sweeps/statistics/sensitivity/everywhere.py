"""Does one value serve everywhere? What the value chosen at one point of the grid costs at another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats, complete_block, score_table
from setsweep.sweeps.statistics.sensitivity.critical import against_one, student
from setsweep.sweeps.statistics.sensitivity.two_way import LEAST_SPREAD

_BORROWED = 4  # how many degrees of freedom a difference borrows from the pooled variance, as in a choice's certificate


@dataclass(frozen=True, kw_only=True)
class Regret:
    """How far a value lies below the best one at a point of the grid.

    Args:
        mean: the largest mean score there minus its own; never negative, and too large by chance where values are
            nearly equal, as the largest of many means is.
        low, high: interval of the difference to the truly best value; None where the spread over seeds is undefined.
    """

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Everywhere:
    """Regrets of values over the points of the grid.

    Args:
        chosen: for each point the index of the value chosen there; None where no value has all its runs.
        regrets: for each value and each point; None where the value lacks a run there.
        serving: the values whose regret may be 0 at every point (its interval begins there): one of them serves
            everywhere as far as can be told.
        compromise: the value whose largest mean regret is least; None where no value has runs at all points.
    """

    chosen: tuple[int | None, ...]
    regrets: tuple[tuple[Regret | None, ...], ...]
    serving: tuple[int, ...]
    compromise: int | None

    def matrix(self) -> tuple[tuple[Regret | None, ...], ...]:
        """[row][column]: the regret of the value chosen at the row's point, used at the column's."""
        nothing: tuple[Regret | None, ...] = (None,) * len(self.chosen)
        return tuple(nothing if value is None else self.regrets[value] for value in self.chosen)


def regret_everywhere(
    scores: npt.ArrayLike, *, confidence: float, chosen: Sequence[int | None] | None = None
) -> Everywhere:
    """The regret of every value at every point of the grid, with an interval paired by seed.

    At a point with G values and n common seeds, D_h = mean over seeds of y_h - y_g is what value h has over value g.
    Its variance is v_h / n with v_h = (4 v + SS_h) / (4 + n - 1), SS_h being the squares of the paired differences
    about their mean and v the pooled variance of a difference in the two-way model. The interval of the regret of g,
    max_h mu_h - mu_g, is Hsu's comparison with the best (1984) with such variances:

        low  = max(0, max_h (D_h - d sqrt(max(v, v_h) / n))),   d: Dunnett's one-sided quantile of G - 1 comparisons
        high = max_h (D_h + t sqrt(v_h / n)),                   t: Student's one-sided quantile on n + 3 degrees

    `low` allows for the best being found on the same scores; it is 0 where g cannot be told from the best. The interval
    is for one cell at a time; simulated coverage is 94 to 98 %, nearest to the confidence where all values are equal.
    A value that lacks a run at a point is left out there, as are seeds (`complete_block`).

    Args:
        scores: (points, values, seeds), NaN where a run has none; a column of a point holds the same seed for all.
        confidence: between 0 and 1.
        chosen: for each point the index of the value chosen, e.g. on validation where the scores are of the test set;
            None: the one with the largest mean score.

    Raises:
        ValueError: fewer than two points or values, a number of choices that does not match, or an index that is none.
    """
    table = score_table(scores, axes=3)
    points, values = table.shape[:2]
    if min(points, values) < 2:
        raise ValueError(f"there must be 2 points of the grid and 2 values at least, got {points} and {values}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}.")
    by_point = [_regrets(one, confidence) for one in table]
    if chosen is None:
        chosen = [next((g for g, one in enumerate(column) if one and one.mean == 0), None) for column in by_point]
    if len(chosen) != points or any(value is not None and not 0 <= value < values for value in chosen):
        raise ValueError(f"chosen must be {points} indices between 0 and {values - 1}, got {list(chosen)}.")
    regrets = tuple(zip(*by_point, strict=True))
    worst = {g: max(one.mean for one in row if one) for g, row in enumerate(regrets) if all(row)}
    return Everywhere(
        chosen=tuple(chosen),
        regrets=regrets,
        serving=tuple(g for g, row in enumerate(regrets) if all(one is not None and one.low == 0 for one in row)),
        compromise=min(worst, key=lambda g: worst[g]) if worst else None,
    )


def _regrets(table: Floats, confidence: float) -> list[Regret | None]:
    """Of each value at one point; table is (values, seeds)."""
    kept, seeds = complete_block(np.isfinite(table))
    found: list[Regret | None] = [None] * len(table)
    y = table[np.ix_(kept, seeds)]
    if not y.size:
        return found
    low, high = _ends(y, confidence) if min(y.shape) > 1 else (None, None)
    means = y.mean(axis=1)
    for place, value in enumerate(kept.tolist()):
        ends = (None, None) if low is None or high is None else (float(low[place]), float(high[place]))
        found[value] = Regret(mean=float(means.max() - means[place]), low=ends[0], high=ends[1])
    return found


def _ends(y: Floats, confidence: float) -> tuple[Floats, Floats] | tuple[None, None]:
    """The interval of each value's regret; y is (G, n) without holes."""
    count, seeds = y.shape
    degrees = (count - 1) * (seeds - 1)
    left = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    pooled = 2 * float((left**2).sum()) / degrees
    if pooled < 2 * LEAST_SPREAD**2:
        return None, None
    differences = y[None] - y[:, None]  # [g, h]: what h has over g
    over = differences.mean(axis=2)
    squares = ((differences - over[..., None]) ** 2).sum(axis=2)
    variance = (_BORROWED * pooled + squares) / (_BORROWED + seeds - 1)
    np.fill_diagonal(variance, 0.0)  # a value differs from itself by nothing
    d, t = against_one(confidence, count, degrees), student(confidence, _BORROWED + seeds - 1)
    low = (over - d * np.sqrt(np.maximum(pooled, variance) / seeds)).max(axis=1)
    high = (over + t * np.sqrt(variance / seeds)).max(axis=1)
    return np.maximum(low, 0.0), high
