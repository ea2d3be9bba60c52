"""The tables that hold a study beside the numbers of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import MISSING, metric_label, number, settings, with_half_width
from setsweep.sweeps.statistics.published import Beside, by_place

INSIDE: Mapping[bool | None, str] = {True: "yes", False: "no", None: MISSING}


def published_tables(report: Report) -> list[Table]:
    """One table for each table or figure of a paper: published, ours, the difference, and whether it is inside."""
    at = ("at",) if report.study.grid else ()
    header = ("arm", *at, "metric", "published", "ours", "n", "ours - published", "inside")
    text = (0, 1, 2, 7) if at else (0, 1, 6)
    return [
        Table(f"Beside the published: {where}", header, tuple(_row(each, at=bool(at)) for each in rows), text)
        for where, rows in by_place(report.published).items()
    ]


def _row(each: Beside, *, at: bool) -> tuple[Cell, ...]:
    paper, metric = each.published, each.published.metric
    cells: list[Any] = [paper.arm, *([settings(paper.point)] if at else []), metric_label(metric)]
    cells += [printed(each), with_half_width(metric, each.mean, each.ci_low, each.ci_high)]
    cells += [str(each.n), number(metric, each.difference, signed=True), INSIDE[each.inside]]
    return tuple(map(Cell, cells))


def printed(each: Beside) -> str:
    """The published number as its paper has it: "97.35 ± 0.06", "93.11 (sd 0.16)"."""
    paper = each.published
    mean = number(paper.metric, paper.mean)
    if paper.spread is None:
        return mean
    spread = number(paper.metric, paper.spread)
    return f"{mean} ± {spread}" if paper.kind == "ci" else f"{mean} (sd {spread})"
