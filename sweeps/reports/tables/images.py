"""The table of differences image by image: over other test images, and of single trained models."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import (
    MISSING,
    contrast_name,
    count,
    metric_label,
    p_value,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.over_images import OverImages


def image_tables(report: Report) -> list[Table]:
    """A table with a row per contrast that could be compared image by image; none where none is, or was asked for."""
    found = [each for each in report.over_images if each.by_seed]
    if not found:
        return []
    metrics = list(dict.fromkeys(each.metric for each in found))
    columns = ["arm", *(["at"] if report.study.grid else []), *(["metric"] if len(metrics) > 1 else [])]
    alpha = 1 - report.study.compare.confidence
    header = (
        *columns,
        "Δ over seeds (points)",
        "Δ over seeds and images",
        "only arm right",
        "only baseline right",
        "McNemar's p",
        f"p < {alpha:.3g}",
        "images",
        "n",
    )
    known = {(c.candidate, c.baseline, c.metric): c for c in report.comparisons}
    rows = [
        tuple(map(Cell, _row(report, each, known[each.candidate, each.baseline, each.metric], columns, alpha)))
        for each in found
    ]
    of_one = f": {metric_label(metrics[0])}" if len(metrics) == 1 else ""
    return [Table(f"Over test images{of_one}", header, tuple(rows), tuple(range(len(columns))))]


def _row(report: Report, each: OverImages, own: Comparison, columns: Sequence[str], alpha: float) -> list[str]:
    names = {"arm": contrast_name(report.study, each), "at": settings(each.point), "metric": metric_label(each.metric)}
    tests = list(each.by_seed.values())
    p_values = [test.p for test in tests]
    return [
        *(names[column] for column in columns),
        *_intervals(each, own),
        f"{statistics.mean(test.better for test in tests):.0f}",
        f"{statistics.mean(test.worse for test in tests):.0f}",
        _spread(p_values),
        f"{sum(p < alpha for p in p_values)} of {len(p_values)}",
        str(each.images),
        count(len(tests), own.n),
    ]


def _intervals(each: OverImages, own: Comparison) -> tuple[str, str]:
    """The difference with the half-width over seeds alone, and with that over seeds and test images."""
    found = each.crossed
    if found is None or found.difference is None:
        return with_half_width(own.metric, own.difference, own.ci_low, own.ci_high, signed=True), MISSING
    middle, seeds = found.difference, found.over_seeds
    ends = (None, None) if seeds is None else (middle - seeds, middle + seeds)
    with_images = (found.ci_low, found.ci_high)
    return (
        with_half_width(each.metric, middle, *ends, signed=True),
        MISSING if seeds is None else with_half_width(each.metric, middle, *with_images, signed=True),
    )


def _spread(p_values: Sequence[float]) -> str:
    """The median, and where there are several the least and the largest."""
    middle = p_value(statistics.median(p_values))
    if len(p_values) == 1:
        return middle
    return f"{middle} [{p_value(min(p_values))}, {p_value(max(p_values))}]"
