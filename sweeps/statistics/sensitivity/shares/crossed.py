"""Shares of variance in a designed grid: crossed analysis of variance with F tests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats, complete_block, left_out, score_table
from setsweep.sweeps.statistics.sensitivity.two_way import LEAST_SPREAD

SEED = "seed"
REST = "configuration x seed"


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one source adds to the variance of a score.

    Args:
        source: the factors it is of: one is a main effect, several their interaction; or ("seed",), or
            ("configuration x seed",): what is left.
        variance: its component, in squared scores; never negative.
        cut: whether the unbiased estimate was negative and has been set to 0.
        share: of the sum of all components, 0 to 1.
        deviation: the root of the component, in scores: 0.01 is one point of accuracy.
        degrees: of freedom of its mean square.
        p: of the F test that there is no such effect; None for what is left.
    """

    source: tuple[str, ...]
    variance: float
    cut: bool
    share: float
    deviation: float
    degrees: int
    p: float | None


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The components of variance of a grid.

    Args:
        rows: main effects, then interactions, then seed and what is left.
        variance: the sum of all components: the variance of the score of a configuration drawn from the grid, trained
            with a seed drawn at random.
        left_out: indices of the levels of each factor, and of the seeds, that were left out as the table has holes.
    """

    rows: tuple[Share, ...]
    variance: float
    left_out: tuple[tuple[int, ...], ...]

    def of(self, *source: str) -> Share:
        """The share of a source."""
        (found,) = (row for row in self.rows if set(row.source) == set(source))
        return found


def grid_shares(scores: npt.ArrayLike, factors: Sequence[str]) -> Shares:
    """The crossed analysis of variance of a full grid that was trained with the same seeds throughout.

        y = mu + (main effects and interactions of the factors) + a_s + e

    The factors (hyperparameters, points of the grid) are fixed: their levels are the ones of interest, and their
    component is the variance of the effect over these levels. The seed is random, crossed with all: a_s has variance
    tau^2. Everything between seeds and factors is one residual e with variance sigma^2, taken to be the same
    for all configurations, against whose mean square MS_e all others are tested:

        effect A of f_A degrees of freedom:  F = MS_A / MS_e,  component f_A (MS_A - MS_e) / N,  N scores in all
        seed:                                F = MS_s / MS_e,  component (MS_s - MS_e) / C,      C configurations
        configuration x seed:                                  component MS_e

    Every component is unbiased (Searle, Casella and McCulloch 1992, chapter 4; for fixed effects it is the numerator of
    omega squared, Hays 1963) before negative ones are set to 0, which `cut` says.

    Scores are taken as they are, so that components are in points; the tests assume a like spread at every
    configuration, and are then exact. The table must be complete: slices with holes are left out (`complete_block`).

    Args:
        scores: (levels of the first factor, ..., seeds); NaN where a run has none.
        factors: the name of each axis but the last.

    Raises:
        ValueError: another number of axes than factors and seeds, names that are not distinct, or a complete part with
            a single level or seed.
    """
    names = tuple(factors)
    if len(set(names)) < max(1, len(names)) or SEED in names:
        raise ValueError(f"factors must have distinct names other than {SEED!r}, got {list(names)}.")
    table = score_table(scores, axes=len(names) + 1)
    kept = complete_block(np.isfinite(table))
    y = table[np.ix_(*kept)]
    if min(y.shape) < 2:
        raise ValueError(f"every factor must have 2 levels and 2 seeds without holes at least, got {y.shape}.")
    sources = [
        chosen for size in range(1, len(names) + 1) for chosen in itertools.combinations(range(len(names)), size)
    ]
    squares = {source: _sum_of_squares(y, source) for source in [*sources, (len(names),)]}
    rows = _rows(y, names, squares)
    return Shares(rows=rows, variance=sum(row.variance for row in rows), left_out=left_out(kept, table.shape))


def _sum_of_squares(y: Floats, source: tuple[int, ...]) -> tuple[float, int]:
    """Of the effect of some axes: the means over all other axes, less all smaller effects; and its degrees."""
    others = tuple(axis for axis in range(y.ndim) if axis not in source)
    effect = y.mean(axis=others, keepdims=True)
    for axis in source:
        effect = effect - effect.mean(axis=axis, keepdims=True)
    copies = y.size // effect.size
    return float((effect**2).sum()) * copies, int(np.prod([y.shape[axis] - 1 for axis in source]))


def _rows(y: Floats, names: tuple[str, ...], squares: dict[tuple[int, ...], tuple[float, int]]) -> tuple[Share, ...]:
    seeds = y.shape[-1]
    degrees = (y.size // seeds - 1) * (seeds - 1)
    total = float(((y - y.mean()) ** 2).sum())
    left = max(0.0, total - sum(square for square, _ in squares.values())) / degrees
    found: list[tuple[tuple[str, ...], float, int, float | None]] = []
    for source, (square, freedom) in squares.items():
        of_seed = source == (len(names),)
        mean_square = square / freedom
        component = (mean_square - left) / (y.size // seeds) if of_seed else freedom * (mean_square - left) / y.size
        name = (SEED,) if of_seed else tuple(names[axis] for axis in source)
        found.append((name, component, freedom, _p(mean_square, left, freedom, degrees)))
    found.append(((REST,), left, degrees, None))
    whole = sum(max(0.0, component) for _, component, _, _ in found)
    return tuple(_share(name, component, whole, freedom, p) for name, component, freedom, p in found)


def _share(source: tuple[str, ...], component: float, whole: float, degrees: int, p: float | None) -> Share:
    variance = max(0.0, component)
    return Share(
        source=source,
        variance=variance,
        cut=component < 0,
        share=variance / whole if whole > 0 else 0.0,
        deviation=variance**0.5,
        degrees=degrees,
        p=p,
    )


def _p(mean_square: float, left: float, degrees: int, of_left: int) -> float | None:
    """Of the F test; None where nothing is left to test against."""
    from scipy.special import fdtrc  # imported late: listing studies must not wait for it

    return None if left < LEAST_SPREAD**2 else float(fdtrc(degrees, of_left, mean_square / left))
