"""Which hyperparameters decide whether a configuration is among the best, in searches of many trials (PED-ANOVA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats

MANY = 1000
"""Trials beyond which this says something: with fewer a dummy has shares as large as a hyperparameter that matters."""
TOP = 0.1
BINS = 10
DUMMIES = 199


@dataclass(frozen=True, kw_only=True)
class TopShares:
    """Shares of the variance of being among the best.

    Args:
        names: of the hyperparameters.
        shares: of each alone, 0 to 1; they are not made to add up to 1.
        dummy: the share that a hyperparameter that does nothing stays below with the confidence.
        top: which share of trials counts as the best.
        trials: how many there were.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]
    dummy: float
    top: float
    trials: int


def top_shares(
    positions: npt.ArrayLike, scores: npt.ArrayLike, names: Sequence[str], *, confidence: float
) -> TopShares:
    """First-order shares of the variance of the indicator that a trial is among the best tenth.

    With p(x) the density of all trials along hyperparameter j and p(x | top) that of the best share g of them,
    E[top | x_j] = g p(x_j | top) / p(x_j), whose variance over trials is g^2 D, D being Pearson's divergence of the two
    densities: the importance of PED-ANOVA (Watanabe, Bansal and Hutter 2023) before it is divided by the sum of all.
    Of the indicator's variance g (1 - g) it is the share g D / (1 - g). Densities are estimated in 10 bins of as many
    trials each, parted by position; equal positions share a bin.

    The dummy's positions are drawn at random (seeded) 199 times; above 1,000 trials they have shares of 1 % and less.

    Args:
        positions: (trials, hyperparameters) on the declared scales.
        scores: (trials,); NaN, a failed trial, is not among the best.
        names: of the hyperparameters.
        confidence: of the dummy's bound, between 0 and 1.

    Raises:
        ValueError: 1,000 trials or fewer, or shapes that do not match.
    """
    x, given = np.asarray(positions, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if x.shape != (len(given), len(names)):
        raise ValueError(f"positions must have the shape {(len(given), len(names))}, got {x.shape}.")
    if len(given) <= MANY:
        raise ValueError(f"shares of being among the best must rest on more than {MANY} trials, got {len(given)}.")
    y = np.where(np.isnan(given), -np.inf, given)
    best = np.zeros(len(y))
    best[np.argsort(-y, kind="stable")[: round(TOP * len(y))]] = 1
    draw = np.random.default_rng(0)
    dummies = [_share(draw.random(len(y)), best) for _ in range(DUMMIES)]
    return TopShares(
        names=tuple(names),
        shares=tuple(_share(column, best) for column in x.T),
        dummy=float(np.quantile(dummies, confidence)),
        top=TOP,
        trials=len(y),
    )


def _share(x: Floats, best: Floats) -> float:
    """The variance between bins of the share of the best in them, over the variance of the indicator."""
    edges = np.unique(np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1]))
    of = np.searchsorted(edges, x, side="right")
    counts = np.bincount(of)
    means = np.bincount(of, weights=best)[counts > 0] / counts[counts > 0]
    between = np.average((means - best.mean()) ** 2, weights=counts[counts > 0])
    return float(between / best.var())
