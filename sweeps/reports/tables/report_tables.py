"""What the tables of a report say, before any format: cells of text, and the sentences under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.shown_metrics import shown_metrics
from setsweep.sweeps.reports.tables.choices import choice_tables
from setsweep.sweeps.reports.tables.comparisons import difference_tables, over_sets_tables, primary_tables
from setsweep.sweeps.reports.tables.images import image_tables
from setsweep.sweeps.reports.tables.published import published_tables
from setsweep.sweeps.reports.tables.searches import divergence_tables, search_tables, spent_tables
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import (
    MISSING,
    count,
    is_accuracy,
    metric_label,
    number,
    place,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.indistinct import indistinct_from_best
from setsweep.sweeps.study.study import Point


def all_tables(report: Report) -> list[Table]:
    """The tables of a report: results, differences, the primary metric's closer, search, its choices, failures."""
    return [
        *result_tables(report),
        *difference_tables(report),
        *primary_tables(report),
        *image_tables(report),
        *over_sets_tables(report),
        *published_tables(report),
        *search_tables(report),
        *choice_tables(report),
        *spent_tables(report),
        *divergence_tables(report),
    ]


def result_tables(report: Report) -> list[Table]:
    """A table per grid point with a row per arm: test metrics, the lowest seed of the primary, n, the configuration."""
    metrics = shown_metrics(report)
    header = (
        "arm", *map(metric_label, metrics), f"lowest {metric_label(report.study.primary)}", "n", "hyperparameters"
    )  # fmt: skip
    return [
        Table(place("Test results", point), header, tuple(_result_rows(report, point, metrics)), (0, len(header) - 1))
        for point in report.study.points()
    ]


def _result_rows(report: Report, point: Point, metrics: Sequence[str]) -> list[tuple[Cell, ...]]:
    found = {(a.arm, a.metric): a for a in report.confirmed if a.point == point}
    chosen = {c.arm: c for c in report.chosen if c.point == point}
    best = {metric: _best_arms(report, found, metric) for metric in metrics}
    rows = []
    for arm in report.study.arms:
        choice = chosen.get(arm)
        done, planned = (choice.done, len(choice.seeds)) if choice else (0, len(report.study.confirm_seeds))
        cells = [_mean_cell(found.get((arm, metric)), done, strong=arm in best[metric]) for metric in metrics]
        lowest = _lowest(found.get((arm, report.study.primary)))
        params = settings(choice.params) if choice else ""
        rows.append((Cell(arm), *cells, lowest, Cell(count(done, planned)), Cell(params or MISSING)))
    return rows


def _best_arms(report: Report, found: Mapping[tuple[str, str], Aggregate], metric: str) -> frozenset[str]:
    """The best arm and those that cannot be told from it; none that has a seed without a number."""
    if not is_accuracy(metric):
        return frozenset()
    whole = {arm: a.numbers for (arm, name), a in found.items() if name == metric and not a.failed}
    return indistinct_from_best(whole, confidence=report.study.compare.confidence)


def _mean_cell(aggregate: Aggregate | None, done: int, *, strong: bool) -> Cell:
    if aggregate is None or (aggregate.mean is None and not aggregate.diverged):
        return Cell(MISSING)
    a = aggregate
    shown = with_half_width(a.metric, a.mean, a.ci_low, a.ci_high)
    partial = f" (n = {a.n})" if 0 < a.n != done else ""
    counted = a.mean_failed_as_0 if a.diverged else None
    zeros = "" if counted is None else f" ({number(a.metric, counted)} with 0s)"
    return Cell(shown + partial + zeros, strong)


def _lowest(aggregate: Aggregate | None) -> Cell:
    """The worst seed that gave a number."""
    values = [] if aggregate is None else list(aggregate.numbers.values())
    return Cell(number(aggregate.metric, min(values)) if aggregate and values else MISSING)
