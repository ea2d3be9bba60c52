"""Does one value serve everywhere: the regret of what is chosen at one place and used at another."""

from __future__ import annotations

from collections.abc import Iterator

from setsweep.sweeps.reports.sensitivity.places import OverPoints
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.reports.sensitivity.words import Block, percent, points, row
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.reports.wording import MISSING, settings
from setsweep.sweeps.statistics.sensitivity.everywhere import Regret


def everywhere_blocks(found: Sensitivity) -> Iterator[Block]:
    """For each arm that was tried at several points the matrix of regrets, and what it comes to."""
    for each in found.over_points:
        yield _matrix(each, percent(found.study.compare.confidence))
        yield _serving(each)


def _matrix(each: OverPoints, percentage: str) -> Table:
    first = each.tried[0]
    rows = []
    for name, chosen, regrets in zip(each.names, each.everywhere.chosen, each.everywhere.matrix(), strict=True):
        choice = MISSING if chosen is None else settings(first.configurations[chosen])
        rows.append(row(name, choice, *map(_cell, regrets)))
    header = ("chosen on validation at", "choice", *(f"used at {name}" for name in each.names))
    title = f"{first.arm}: does one value serve everywhere? Points below the best there ({percentage} interval)"
    return Table(title, header, tuple(rows), (0, 1))


def _cell(regret: Regret | None) -> str:
    if regret is None:
        return MISSING
    if regret.low is None or regret.high is None:
        return points(regret.mean)
    return f"{points(regret.mean)} ({points(regret.low)} to {points(regret.high)})"


def _serving(each: OverPoints) -> str:
    first, found = each.tried[0], each.everywhere
    serving = [settings(first.configurations[index]) for index in found.serving]
    if serving:
        return f"{first.arm}: everywhere as good as the best, as far as can be told: {'; '.join(serving)}."
    if found.compromise is None:
        return f"{first.arm}: no value has runs everywhere."
    worst = max(regret.mean for regret in found.regrets[found.compromise] if regret is not None)
    return (
        f"{first.arm}: no value serves everywhere; {settings(first.configurations[found.compromise])} loses least, "
        f"{points(worst)} points at most."
    )
