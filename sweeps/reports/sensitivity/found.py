"""What the configurations that were tried say of the hyperparameters of an arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from setsweep.sweeps.reports.sensitivity.dimension import Dimension
from setsweep.sweeps.reports.sensitivity.tried import Tried, along, common_seeds
from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.curve import Curve, mean_curve
from setsweep.sweeps.statistics.sensitivity.failures import (
    Cliff,
    FailureRate,
    failure_cliff,
    failures_by_region,
)
from setsweep.sweeps.statistics.sensitivity.health import Advice, more_runs, no_effect
from setsweep.sweeps.statistics.sensitivity.plateau import Plateau, cannot_be_told, plateau
from setsweep.sweeps.statistics.sensitivity.shares.crossed import Shares, grid_shares
from setsweep.sweeps.statistics.sensitivity.shares.searched import SearchShares, search_shares
from setsweep.sweeps.statistics.sensitivity.shares.top import TopShares, top_shares

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class OneHyperparameter:
    """What is seen along one hyperparameter.

    Args:
        dimension: it.
        over: the values of each other hyperparameter that the curve is a mean over.
        curve: None where the points are no grid.
        plateau: None where it is undefined, for the reason that the curve or `reason` gives.
        no_effect: the p-value of the F test that all values are equally good; None where undefined.
        rates: failure rates over it; empty where nothing failed.
        cliff: where runs begin to fail; None: nowhere, or nothing failed.
        at_edge: of a search: the end at which its best trial lies.
        reason: why there is no plateau.
    """

    dimension: Dimension
    over: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    curve: Curve | None = None
    plateau: Plateau | None = None
    no_effect: float | None = None
    rates: tuple[FailureRate, ...] = ()
    cliff: Cliff | None = None
    at_edge: str | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What is seen of one arm at one point.

    Args:
        tried: what it rests on.
        along: each hyperparameter.
        equal: of a full grid of two: for each configuration whether it cannot be told from the best, and the best;
            None otherwise.
        shares: of variance; None where undefined, for the reason `no_shares`.
        advice: whether seeds or configurations help more; None where undefined.
        top: of a search of more than 1,000 trials: what decides whether one is among the best.
    """

    tried: Tried
    along: tuple[OneHyperparameter, ...]
    equal: tuple[tuple[bool, ...], int] | None
    shares: Shares | SearchShares | None
    no_shares: str
    advice: Advice | None
    top: TopShares | None


def look_at(tried: Tried, *, confidence: float) -> Findings:
    """Everything that the scores of one arm at one point say."""
    shares, no_shares = _or_reason(lambda: _shares(tried, confidence))
    gridlike = tried.designed and tried.is_grid
    equal, _ = _or_reason(lambda: cannot_be_told(_without_failing(tried), confidence=confidence))
    common = tried.scores[:, common_seeds(tried)]
    advice, _ = _or_reason(lambda: more_runs(common, confidence=confidence))
    return Findings(
        tried=tried,
        along=tuple(_along(tried, number, confidence) for number in range(len(tried.dimensions))),
        equal=equal if gridlike and len(tried.dimensions) == 2 else None,
        shares=shares,
        no_shares=no_shares,
        advice=advice,
        top=None if gridlike else _top(tried, confidence),
    )


def _along(tried: Tried, number: int, confidence: float) -> OneHyperparameter:
    one = tried.dimensions[number]
    rates, cliff = _failures(tried, number, confidence)
    if not (tried.designed and tried.is_grid):
        return OneHyperparameter(dimension=one, rates=rates, cliff=cliff, at_edge=_edge(tried, number))
    scores, over = along(tried, number)
    failures = np.nansum(along(tried, number, tried.failed)[0], axis=1) > 0
    curve, _ = _or_reason(lambda: mean_curve(scores, confidence=confidence))
    found, reason = _or_reason(
        lambda: plateau(
            one.values,
            scores,
            one.scale,
            confidence=confidence,
            failures=failures.astype(int).tolist(),
            default=one.default,
            chosen=one.chosen,
        )
    )
    effect, _ = _or_reason(lambda: no_effect(scores))
    return OneHyperparameter(
        dimension=one,
        over=over,
        curve=curve,
        plateau=found,
        no_effect=effect,
        rates=rates,
        cliff=cliff,
        reason=reason,
    )


def _without_failing(tried: Tried) -> Floats:
    """The scores, but for the configurations of which a run failed: the mean of the others would flatter them."""
    failing = np.nansum(tried.failed, axis=1) > 0
    return np.where(failing[:, None], np.nan, tried.scores)


def _failures(tried: Tried, number: int, confidence: float) -> tuple[tuple[FailureRate, ...], Cliff | None]:
    if not np.nansum(tried.failed) > 0:
        return (), None
    at = tried.positions[:, number]
    rates, _ = _or_reason(lambda: failures_by_region(at, tried.failed, confidence=confidence))
    cliff, _ = _or_reason(lambda: failure_cliff(at, tried.failed, confidence=confidence))
    return rates or (), cliff


def _shares(tried: Tried, confidence: float) -> Shares | SearchShares:
    names = [each.name for each in tried.dimensions]
    if tried.designed and tried.is_grid:
        return grid_shares(tried.grid(), names)
    return search_shares(
        np.clip(tried.positions, 0, 1), tried.scores[:, common_seeds(tried)], names, confidence=confidence
    )


def _top(tried: Tried, confidence: float) -> TopShares | None:
    common = tried.scores[:, common_seeds(tried)]
    if not common.size:
        return None
    names = [each.name for each in tried.dimensions]
    found, _ = _or_reason(lambda: top_shares(tried.positions, common.mean(axis=1), names, confidence=confidence))
    return found


_NEAR = 0.02  # of the range: as good as at its end


def _edge(tried: Tried, number: int) -> str | None:
    """At which end of the range the best trial of a search lies; None: between, or the scale has no ends."""
    common = tried.scores[:, common_seeds(tried)]
    there = np.isfinite(common).all(axis=1) if common.size else np.zeros(len(common), dtype=bool)
    if not there.any() or tried.dimensions[number].scale.kind == "order":
        return None
    means = np.where(there, np.nan_to_num(common).mean(axis=1), -np.inf)
    at = float(tried.positions[int(means.argmax()), number])
    return "low" if at <= _NEAR else "high" if at >= 1 - _NEAR else None


def _or_reason(compute: Callable[[], Found]) -> tuple[Found | None, str]:
    """What is computed; or nothing, and why it is undefined."""
    try:
        return compute(), ""
    except ValueError as error:
        return None, str(error)
