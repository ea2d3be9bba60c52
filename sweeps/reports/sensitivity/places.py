"""Whether one configuration serves everywhere: at all points of the grid, and for all set sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity.tried import Tried, designed
from setsweep.sweeps.reports.wording import settings
from setsweep.sweeps.statistics.sensitivity.everywhere import Everywhere, regret_everywhere
from setsweep.trainables.evaluation.metric import Metric


@dataclass(frozen=True, kw_only=True)
class OverPoints:
    """Whether one configuration of an arm serves everywhere: at all points of the grid, for all set sizes.

    Args:
        tried: an entry for each place.
        names: of the places: "data.label_noise = 0.2", "k = 3".
        everywhere: the regrets.
    """

    tried: tuple[Tried, ...]
    names: tuple[str, ...]
    everywhere: Everywhere


def over_points(report: Report, metric: str) -> list[OverPoints]:
    """For each arm that was tried at several places; what is used elsewhere is chosen on validation."""
    study = report.study
    measured = [replace(Metric.parse(metric), k=k) for k in study.k]
    tried = [each for one in measured for each in designed(report, one.name)]
    choosing = [each for one in measured for each in designed(report, one.on("val").name)]
    found = []
    for arm in study.arms:
        own = [each for each in tried if each.arm == arm]
        if len(own) > 1 and _can_be_compared(own):
            chosen = [_best(each) for each in choosing if each.arm == arm]
            scores = np.stack([each.scores for each in own])
            everywhere = regret_everywhere(scores, confidence=study.compare.confidence, chosen=chosen)
            names = tuple(_place(each, several=len(study.k) > 1) for each in own)
            found.append(OverPoints(tried=tuple(own), names=names, everywhere=everywhere))
    return found


def _can_be_compared(own: Sequence[Tried]) -> bool:
    """Whether there is something to choose from, with the same seeds everywhere, and places differ for this arm."""
    first = own[0]
    alike = all(each.seeds == first.seeds and len(each.scores) == len(first.scores) for each in own)
    same = all(np.array_equal(each.scores, first.scores, equal_nan=True) for each in own)
    return alike and len(first.scores) > 1 and not same


def _place(tried: Tried, *, several: bool) -> str:
    k = {"k": Metric.parse(tried.metric).k} if several else {}
    return settings({**tried.point, **k})


def _best(tried: Tried) -> int | None:
    """The configuration with the best mean of those that have all their runs."""
    whole = np.isfinite(tried.scores).all(axis=1)
    means = np.where(whole, np.nan_to_num(tried.scores).mean(axis=1), -np.inf)
    return int(means.argmax()) if whole.any() else None
