"""Tuning curves: how good the best of k random trials is, with a band that holds for all k at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from setsweep.losses.values import nearest
from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.order_statistics import distribution_bounds

Statistic = Literal["median", "mean"]
SAMPLERS = ("random", "qmc")
"""The samplers whose trials do not depend on scores."""


@dataclass(frozen=True, kw_only=True)
class TuningCurve:
    """The score of the best of k trials.

    Args:
        statistic: the median or the mean of the best of k.
        k: numbers of trials.
        centre: of the sample's own distribution, by k.
        low, high: the band, by k. Where the sample says nothing they are the bounds of scores, 0 and 1.
        finite: for how many k both ends of the band are from the sample. It is 0 for the mean, whose band always mixes
            in the bounds.
        trials: n, what the curve rests on.
        failed: how many of them failed, and count as 0.
        confidence: of the whole band.
    """

    statistic: Statistic
    k: tuple[int, ...]
    centre: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    finite: int
    trials: int
    failed: int
    confidence: float


def tuning_curve(
    scores: npt.ArrayLike,
    *,
    sampler: str,
    confidence: float,
    statistic: Statistic = "median",
    largest: int | None = None,
) -> TuningCurve:
    """The tuning curve of a search at random (Lourie, Cho and He 2024), of the median or the mean best of k.

    With F the distribution of a trial's score, the best of k has F^k: its median is the score where F is 0.5^(1/k), its
    mean the integral of y dF^k. The centre takes the sample's F, the band the bounds low <= F <= high that hold at all
    scores at once with the confidence (`distribution_bounds`, the paper's and opda's of highest density); a larger F
    is a lower curve. So the band holds for all k at once, exactly for continuous scores and more often with ties.

    The median's band reaches its high end from the sample as long as low_n >= 0.5^(1/k), low_n being the bound at the
    largest of n scores, which is so for k up to about n / 9 (`trials_needed`); beyond, it says 1. Independent trials
    are assumed; quasi-random ones are spread more evenly, with which the band holds more often than it says.

    Args:
        scores: (trials,) accuracies between 0 and 1; NaN, a failed trial, counts as 0. The default configuration, which
            a search tries first, is no random trial: leave it out.
        sampler: of the search.
        confidence: between 0 and 1.
        statistic: "median" or "mean" ("expected best").
        largest: the largest k; None: as many as there are trials.

    Raises:
        ValueError: a search that was neither random nor quasi-random, no trials, or scores that are no accuracies.
    """
    if sampler not in SAMPLERS:
        why = "as a tuning curve needs trials that do not depend on one another's scores"
        raise ValueError(f"sampler must be random or qmc, {why}, got {sampler!r}.{nearest(sampler, SAMPLERS)}")
    if statistic not in ("median", "mean"):
        raise ValueError(f"statistic must be median or mean, got {statistic!r}.")
    given = np.asarray(scores, dtype=np.float64)
    y = np.sort(np.where(np.isnan(given), 0.0, given), axis=None)
    if given.ndim != 1 or not y.size or y[0] < 0 or y[-1] > 1:
        raise ValueError(f"scores must be one accuracy between 0 and 1 or more in a row, got {given.tolist()}.")
    k = np.arange(1, (y.size if largest is None else largest) + 1)
    lower, upper = _bounds(y.size, confidence)
    best = _median if statistic == "median" else _mean
    steps = np.arange(1, y.size + 1) / y.size
    return TuningCurve(
        statistic=statistic,
        k=tuple(k.tolist()),
        centre=tuple(best(np.append(0.0, steps), y, k).tolist()),
        low=tuple(best(upper, y, k).tolist()),
        high=tuple(best(lower, y, k).tolist()),
        finite=_finite(lower, upper, k) if statistic == "median" else 0,
        trials=y.size,
        failed=int(np.isnan(given).sum()),
        confidence=confidence,
    )


def trials_needed(k: int, *, confidence: float, near: int | None = None) -> int:
    """The least number of random trials from which the band of the median best of k has a high end of its own.

    Args:
        k: how many trials the best is of.
        confidence: of the band, between 0 and 1.
        near: where to begin to look; the answer does not depend on it.

    Raises:
        ValueError: k below 1.
    """
    if k < 1:
        raise ValueError(f"k must be >= 1, got {k}.")
    count = max(2, 9 * k if near is None else near)
    for _ in range(3):  # n log(1 / low_n) hardly depends on n, so that this lands within a trial or two
        content = -count * math.log(distribution_bounds(count, confidence)[0][-1])
        count = max(2, math.ceil(k * content / math.log(2)))
    while not _reaches(count, k, confidence):
        count += 1
    while count > 2 and _reaches(count - 1, k, confidence):
        count -= 1
    return count


def _reaches(count: int, k: int, confidence: float) -> bool:
    low, _ = distribution_bounds(count, confidence)
    return bool(low[-1] >= 0.5 ** (1 / k))


def _bounds(count: int, confidence: float) -> tuple[Floats, Floats]:
    """Of F on the n + 1 stretches before, between and after the sorted scores."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}.")
    low, high = distribution_bounds(count, confidence)
    return np.array([0.0, *low]), np.array([*high, 1.0])


def _median(steps: Floats, y: Floats, k: npt.NDArray[np.int64]) -> Floats:
    """The score from which F, given on the stretches before, between and after the scores, is 0.5^(1/k) or more."""
    ends = np.concatenate([[0.0], y, [1.0]])
    return ends[np.searchsorted(steps, 0.5 ** (1 / k) - 1e-12)]


def _mean(steps: Floats, y: Floats, k: npt.NDArray[np.int64]) -> Floats:
    ends = np.concatenate([[0.0], y, [1.0]])
    powers = np.append(steps, 1.0)[None] ** k[:, None]
    return np.asarray(np.diff(powers, axis=1, prepend=0.0) @ ends)


def _finite(lower: Floats, upper: Floats, k: npt.NDArray[np.int64]) -> int:
    wanted = 0.5 ** (1 / k)
    return int(((lower[-1] >= wanted) & (upper[0] < wanted)).sum())
