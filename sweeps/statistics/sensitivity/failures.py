"""Where runs fail: failure rates over a hyperparameter, and the cliff beyond which runs begin to fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats


@dataclass(frozen=True, kw_only=True)
class FailureRate:
    """How often runs fail in a stretch of a hyperparameter.

    Args:
        first, last: indices of its least and greatest value, in the order given.
        failed, runs: how many.
        rate: failed / runs.
        low, high: its interval (Clopper and Pearson 1934), which covers at least as often as it says.
    """

    first: int
    last: int
    failed: int
    runs: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Cliff:
    """Where a hyperparameter begins to make runs fail.

    Args:
        side: on which side of the cliff runs fail more often.
        below, above: indices of the values on either side of it: the cliff lies between them.
        failing, elsewhere: the failure rates on the failing side and on the other.
        p: of the test that runs fail alike at all values.
    """

    side: Literal["low", "high"]
    below: int
    above: int
    failing: FailureRate
    elsewhere: FailureRate
    p: float


def failure_rate(failed: int, runs: int, *, confidence: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934) of a rate of failures.

    Raises:
        ValueError: no runs, or more failures than runs.
    """
    from scipy.special import betaincinv  # imported late: listing studies must not wait for it

    if not 0 <= failed <= runs or runs < 1:
        raise ValueError(f"failures must be between 0 and runs >= 1, got {failed} of {runs}.")
    tail = (1 - confidence) / 2
    low = 0.0 if failed == 0 else float(betaincinv(failed, runs - failed + 1, tail))
    high = 1.0 if failed == runs else float(betaincinv(failed + 1, runs - failed, 1 - tail))
    return low, high


def failures_by_region(
    positions: npt.ArrayLike, failed: npt.ArrayLike, *, confidence: float, bins: int = 5
) -> tuple[FailureRate, ...]:
    """Failure rates over a hyperparameter: one for each value, or for `bins` stretches of about as many runs.

    Args:
        positions: (configurations,) where each lies on the declared scale.
        failed: (configurations, seeds): 1 where the run failed, 0 where it did not, NaN where it was not run.
        confidence: of each interval.
        bins: the most stretches; equal positions are never parted.

    Raises:
        ValueError: shapes that do not match, flags that are none, or fewer than one bin.
    """
    if bins < 1:
        raise ValueError(f"bins must be >= 1, got {bins}.")
    at, _ = _sorted(positions, failed)
    starts = np.flatnonzero(np.diff(at.x, prepend=-np.inf) > 0)
    if len(starts) > bins:
        runs_before = np.concatenate([[0], np.cumsum(at.runs)])[starts]
        wanted = np.arange(bins) * at.runs.sum() / bins
        starts = np.unique(starts[np.searchsorted(runs_before, wanted - 1e-9).clip(max=len(starts) - 1)])
    ends = [*starts[1:].tolist(), len(at.x)]
    return tuple(at.rate(a, b, confidence) for a, b in zip(starts.tolist(), ends, strict=True) if at.runs[a:b].sum())


def failure_cliff(
    positions: npt.ArrayLike, failed: npt.ArrayLike, *, confidence: float, draws: int = 999
) -> Cliff | None:
    """The cut of a sorted hyperparameter that best parts runs that fail from runs that do not; None without failures.

    Of all cuts between two values the one with the largest binomial likelihood of one rate on each side is taken
    (Worsley 1983), whichever side fails more. Its p-value compares the likelihood with that of failures permuted among
    configurations within each seed (seeded): exact where the value has no influence on failing, also if some seeds fail
    more often than others. A cliff is worth telling where p is small; None is returned where no cut is possible.

    Args:
        positions: (configurations,) where each lies on the declared scale.
        failed: (configurations, seeds): 1 where the run failed, 0 where it did not, NaN where it was not run.
        confidence: of the intervals of both rates.
        draws: how many permutations.

    Raises:
        ValueError: shapes that do not match, or flags that are none.
    """
    at, flags = _sorted(positions, failed)
    cuts = np.flatnonzero(np.diff(at.x) > 0) + 1
    cuts = cuts[(at.runs.cumsum()[cuts - 1] > 0) & (at.runs.cumsum()[cuts - 1] < at.runs.sum())]
    if not cuts.size or not 0 < at.failed.sum() < at.runs.sum():
        return None
    gains = _gains(at.failed[None], at.runs, cuts)[0]
    cut = int(cuts[gains.argmax()])
    largest = _gains(_permuted(flags, draws), at.runs, cuts).max(axis=1)
    low, high = at.rate(0, cut, confidence), at.rate(cut, len(at.x), confidence)
    below_fails = low.rate > high.rate
    return Cliff(
        side="low" if below_fails else "high",
        below=low.last,
        above=high.first,
        failing=low if below_fails else high,
        elsewhere=high if below_fails else low,
        p=float((1 + (largest >= gains.max() - 1e-9).sum()) / (1 + draws)),
    )


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Configurations by ascending position: their places, indices as given, failures and runs."""

    x: Floats
    index: npt.NDArray[np.intp]
    failed: Floats
    runs: Floats

    def rate(self, start: int, stop: int, confidence: float) -> FailureRate:
        failed, runs = int(self.failed[start:stop].sum()), int(self.runs[start:stop].sum())
        low, high = failure_rate(failed, runs, confidence=confidence)
        return FailureRate(
            first=int(self.index[start]),
            last=int(self.index[stop - 1]),
            failed=failed,
            runs=runs,
            rate=failed / runs,
            low=low,
            high=high,
        )


def _sorted(positions: npt.ArrayLike, failed: npt.ArrayLike) -> tuple[_Sorted, Floats]:
    x, flags = np.asarray(positions, dtype=np.float64), np.asarray(failed, dtype=np.float64)
    if flags.ndim != 2 or x.shape != flags.shape[:1] or not np.isfinite(x).all():
        raise ValueError(f"failed must be (configurations, seeds) for {x.shape} finite positions, got {flags.shape}.")
    if not (np.isnan(flags) | (flags == 0) | (flags == 1)).all() or np.isnan(flags).all():
        raise ValueError(f"failed must be 0, 1 or NaN, and not NaN throughout, got {flags.tolist()}.")
    order = np.argsort(x, kind="stable")
    flags = flags[order]
    return _Sorted(x[order], order, np.nansum(flags, axis=1), np.isfinite(flags).sum(axis=1).astype(float)), flags


def _gains(failed: Floats, runs: Floats, cuts: npt.NDArray[np.intp]) -> Floats:
    """The log likelihood of one rate on each side of each cut; failed is (draws, configurations)."""
    from scipy.special import xlogy

    def likelihood(count: Floats, of: Floats) -> Floats:
        return np.asarray(xlogy(count, count / of) + xlogy(of - count, 1 - count / of))

    below, all_failed = failed.cumsum(axis=1)[:, cuts - 1], failed.sum(axis=1, keepdims=True)
    tried, all_tried = runs.cumsum()[cuts - 1], runs.sum()
    return likelihood(below, tried) + likelihood(all_failed - below, all_tried - tried)


def _permuted(flags: Floats, draws: int) -> Floats:
    """(draws, configurations) numbers of failures, where each seed's flags are permuted among the runs that it has."""
    draw = np.random.default_rng(0)
    failed = np.zeros((draws, len(flags)))
    for column in flags.T:
        there = np.flatnonzero(np.isfinite(column))
        failed[:, there] += draw.permuted(np.repeat(column[there][None], draws, axis=0), axis=1)
    return failed
