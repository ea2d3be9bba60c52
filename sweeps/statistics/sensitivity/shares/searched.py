"""Shares of variance from the scattered points of a search, by a Gaussian process, beside a dummy's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats, score_table
from setsweep.sweeps.statistics.sensitivity.critical import student
from setsweep.sweeps.statistics.sensitivity.no_effect import permutation_p
from setsweep.sweeps.statistics.sensitivity.shares.crossed import REST, SEED, grid_shares
from setsweep.sweeps.statistics.sensitivity.shares.sobol import sobol_shares
from setsweep.sweeps.statistics.sensitivity.shares.surface import Surface, fit_surface

DUMMY = "dummy"
GROUPS = 12
LEAST_POINTS = 12
MOST_POINTS = 256
_DETECTABLE = 3.84  # the 95 % quantile of chi2 on one degree of freedom: what a likelihood must gain to see an effect


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number between 0 and 1 with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class SearchShare:
    """What one hyperparameter adds to the variance of a run's score.

    Args:
        name: of the hyperparameter.
        first: its share alone.
        total: its share with all its interactions; so totals may add up to more than 1.
        deviation: the root of its total component, in scores: 0.01 is one point of accuracy.
    """

    name: str
    first: Estimate
    total: Estimate
    deviation: float


@dataclass(frozen=True, kw_only=True)
class SearchShares:
    """The shares of all hyperparameters of a search.

    Args:
        rows: one for each hyperparameter, in the order given.
        dummy: the same of a hyperparameter that does nothing: what is to be seen of noise.
        configurations: the share of all hyperparameters together; the rest is noise.
        seed, rest: the shares of the seed and of configuration x seed; None where no two seeds are common to all.
        variance: of the score of a configuration drawn uniformly from the declared ranges, with a seed drawn at random.
        p: of the test that no hyperparameter has any effect.
        confidence: of the intervals, and of the test.
        points: how many configurations the shares rest on.
        left_out: indices of configurations without a score.
    """

    rows: tuple[SearchShare, ...]
    dummy: SearchShare
    configurations: Estimate
    seed: float | None
    rest: float | None
    variance: float
    p: float
    confidence: float
    points: int
    left_out: tuple[int, ...]

    @property
    def nothing(self) -> bool:
        """Whether the configurations cannot be told from noise, so that no share means anything."""
        return self.p > 1 - self.confidence

    def matters(self, name: str) -> bool:
        """Whether a hyperparameter's total share lies wholly above the dummy's, and there is an effect at all."""
        (row,) = (row for row in self.rows if row.name == name)
        return not self.nothing and row.total.low > self.dummy.total.high


def search_shares(
    positions: npt.ArrayLike, scores: npt.ArrayLike, names: Sequence[str], *, confidence: float = 0.95
) -> SearchShares:
    """Sobol's shares of a smooth surface through the points of a search, times the share that is not noise.

    The mean score of configuration i over its seeds is f(x_i) + noise, f being a Gaussian process (`fit_surface`) of
    the hyperparameters and of a dummy, whose positions are drawn at random (seeded). With V the variance of its mean
    surface over the cube and S_j Sobol's shares of it (`sobol_shares`; Oakley and O'Hagan 2004), the share of
    hyperparameter j is S_j V / (V + noise). The noise is that of a single run: the components of
    seed and configuration x seed (`grid_shares`) where all configurations share two seeds or more, else the process's.

    Intervals resample configurations: they are split into 12 groups, everything is fitted again without each, and
    the jackknife's t interval on 11 degrees of freedom is taken of asin(sqrt(share)) (Tukey 1958; the root steadies the
    spread near 0 and 1). It is widened at both ends by 3.84 (noise share) / points, as a likelihood does not
    see an effect of one degree of freedom below that, in whichever group. Where the test of no effect finds none, all
    intervals begin at 0.

    The test of no effect is the F test of configurations where there are two common seeds, else `permutation_p`. Both
    are exact for points that do not depend on scores (grid, random, quasi-random); what a search that learns (tpe, gp)
    has tried is dense where scores are good, so that shares say less of the rest of the range. Beside a cliff the
    smooth surface is off by up to 0.03, which the intervals of small shares do not know (simulated coverage 65 %).

    Of more than 256 configurations 256 are drawn (seeded), which bounds the time.

    Args:
        positions: (configurations, hyperparameters) on the declared scales, 0 to 1.
        scores: (configurations,) or (configurations, seeds); NaN where a run has none. A configuration with none is
            left out: failing is told by `health`, not by shares.
        names: of the hyperparameters.
        confidence: of the intervals, between 0 and 1.

    Raises:
        ValueError: shapes that do not match, or fewer than 12 configurations with a score.
    """
    x, table = np.asarray(positions, dtype=np.float64), _table(scores)
    if x.shape != (len(table), len(names)) or not names or not np.isfinite(x).all():
        shape = (len(table), len(names))
        raise ValueError(f"positions must be finite numbers of shape {shape}, got shape {x.shape}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}.")
    from threadpoolctl import threadpool_limits  # imported late: listing studies must not wait for it

    there = np.flatnonzero(np.isfinite(table).any(axis=1))
    if len(there) < LEAST_POINTS:
        raise ValueError(f"shares of a search must rest on {LEAST_POINTS} configurations at least, got {len(there)}.")
    draw = np.random.default_rng(0)
    used = np.sort(draw.permutation(there)[:MOST_POINTS])
    x = np.column_stack([x[used], draw.permutation((np.arange(len(used)) + 0.5) / len(used))])
    left_out = sorted(set(range(len(table))) - set(there.tolist()))
    with threadpool_limits(1):  # matrices of 256 rows gain nothing by more threads, which would wait for each other
        return _shares(x, table[used], [*names, DUMMY], confidence, left_out)


def _table(scores: npt.ArrayLike) -> Floats:
    plain = np.asarray(scores, dtype=np.float64)
    return score_table(plain[:, None] if plain.ndim == 1 else plain, axes=2)


def _shares(x: Floats, table: Floats, names: list[str], confidence: float, missing: list[int]) -> SearchShares:
    whole, surface, variance = _estimate(x, table)
    groups = np.arange(len(x)) % GROUPS
    groups = np.random.default_rng(1).permutation(groups)
    without = np.array([_estimate(x[groups != one], table[groups != one], surface)[0] for one in range(GROUPS)])
    common = _common(table)
    noise = None if common is None else grid_shares(common, ["configuration"])
    p = permutation_p(x[:, :-1], np.nanmean(table, axis=1)) if noise is None else noise.of("configuration").p
    p = 1.0 if p is None else p
    low, high = _jackknife(whole, without, confidence)
    slack = _DETECTABLE * (1 - float(whole[-1])) / len(x)
    found = [
        Estimate(value=v, low=0.0 if p > 1 - confidence else max(0.0, a - slack), high=min(1.0, b + slack))
        for v, a, b in zip(whole.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    count = len(names)
    rows = [
        SearchShare(name=name, first=first, total=total, deviation=(total.value * variance) ** 0.5)
        for name, first, total in zip(names, found[:count], found[count : 2 * count], strict=True)
    ]
    return SearchShares(
        rows=tuple(rows[:-1]),
        dummy=rows[-1],
        configurations=found[-1],
        seed=None if noise is None or not variance else noise.of(SEED).variance / variance,
        rest=None if noise is None or not variance else noise.of(REST).variance / variance,
        variance=variance,
        p=p,
        confidence=confidence,
        points=len(x),
        left_out=tuple(missing),
    )


def _estimate(x: Floats, table: Floats, near: Surface | None = None) -> tuple[Floats, Surface | None, float]:
    """First-order and total shares by column, then the share of all; the surface, and the variance of a run."""
    y = np.nanmean(table, axis=1)
    nothing = np.zeros(2 * x.shape[1] + 1)
    if np.ptp(y) < 1e-9:
        return nothing, near, 0.0
    surface = fit_surface(x, y, near)
    sobol = sobol_shares(surface)
    common = _common(table)
    if common is None:
        noise = surface.noise * surface.spread**2
    else:
        parts = grid_shares(common, ["configuration"])
        noise = parts.of(SEED).variance + parts.of(REST).variance
    variance = sobol.variance + noise
    share = sobol.variance / variance
    return np.concatenate([sobol.first * share, sobol.total * share, [share]]), surface, variance


def _common(table: Floats) -> Floats | None:
    """The columns of the seeds that all configurations have, where there are two or more."""
    full = table[:, np.isfinite(table).all(axis=0)]
    return full if full.shape[1] >= 2 else None


def _jackknife(whole: Floats, without: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The ends of the t interval of each share on the scale of asin(sqrt(share))."""
    centre, each = _steady(whole), _steady(without)
    error = np.sqrt((GROUPS - 1) / GROUPS * ((each - each.mean(axis=0)) ** 2).sum(axis=0))
    half = student((1 + confidence) / 2, GROUPS - 1) * error
    low, high = np.maximum(centre - half, 0), np.minimum(centre + half, np.pi / 2)
    return np.sin(low) ** 2, np.sin(high) ** 2


def _steady(shares: Floats) -> Floats:
    return np.asarray(np.arcsin(np.sqrt(np.clip(shares, 0, 1))))
