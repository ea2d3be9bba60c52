"""Tuning curves in tables: how good the best of k random trials is."""

from __future__ import annotations

from collections.abc import Iterator

from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity, Tuning
from setsweep.sweeps.reports.sensitivity.words import Block, between, percent, points, row
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.reports.wording import settings
from setsweep.sweeps.statistics.sensitivity.tuning_curve import TuningCurve, trials_needed

_SHOWN = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


def tuning_blocks(found: Sensitivity) -> Iterator[Block]:
    """For each arm that was searched at random its tuning curve; why there is none is told once."""
    reasons: dict[str, list[str]] = {}
    for each in found.tunings:
        if each.curve is None:
            reasons.setdefault(each.reason, []).append(_place(each))
            continue
        yield _table(each, each.curve, percent(found.study.compare.confidence))
        yield _finite(each, each.curve)
    for reason, places in reasons.items():
        yield f"No tuning curve of {'; '.join(places)}: {reason}"


def _table(each: Tuning, curve: TuningCurve, percentage: str) -> Table:
    rows = [row(str(k), points(curve.centre[k - 1]), _band(curve, k)) for k in _SHOWN if k <= len(curve.k)]
    header = ("best of k trials", "median (%)", f"band for all k at once ({percentage})")
    failed = f", of which {curve.failed} failed and count as 0" if curve.failed else ""
    return Table(f"{_place(each)}: tuning curve of {curve.trials} random trials{failed}", header, tuple(rows), ())


def _band(curve: TuningCurve, k: int) -> str:
    """Both ends, or the lower one where the trials give no upper one."""
    low, high = curve.low[k - 1], curve.high[k - 1]
    return between(low, high) if high < 1 else f"{points(low)} and more"


def _finite(each: Tuning, curve: TuningCurve) -> str:
    there = f"up to k = {curve.finite}" if curve.finite else "for no k"
    beyond = curve.finite + 1
    needed = trials_needed(beyond, confidence=curve.confidence, near=max(2, curve.trials))
    return f"{_place(each)}: the band has an upper end {there}; for k = {beyond} that takes {needed} trials."


def _place(each: Tuning) -> str:
    return ", ".join(part for part in (each.arm, settings(each.point)) if part)
