"""What the tables of a report say, before any format: cells of text, and the sentences under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from setsweep.sweeps.reports.choice_tables import choice_tables
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.table import Cell, Table
from setsweep.sweeps.reports.wording import (
    MISSING,
    count,
    is_accuracy,
    metric_label,
    p_value,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.study.study import Point, Study, point_key
from setsweep.trainables.evaluation.metric import Metric, plain_accuracies, set_size

SIGNIFICANT = "*"


def all_tables(report: Report) -> list[Table]:
    """The tables of a report: results, differences to the baseline, search, how its choices were made."""
    return [*result_tables(report), *difference_tables(report), *search_tables(report), *choice_tables(report)]


def result_tables(report: Report) -> list[Table]:
    """A table per grid point with a row per arm: test metrics, n, and the configuration."""
    metrics = _shown_metrics(report)
    header = ("arm", *map(metric_label, metrics), "n", "hyperparameters")
    return [
        Table(_title("Test results", point), header, tuple(_result_rows(report, point, metrics)), (0, len(header) - 1))
        for point in report.study.points()
    ]


def difference_tables(report: Report) -> list[Table]:
    """A table per grid point with a row per arm but the baseline: paired differences and corrected p-values."""
    metrics = in_order(report.study, {c.metric for c in report.comparisons})
    names = [name for metric in metrics for name in (f"Δ {metric_label(metric)}", "p")]
    header = ("arm", *(name.replace("(%)", "(points)") for name in names), "n")
    tables = []
    for point in report.study.points():
        rows = []
        for arm in report.study.arms:
            found = {c.metric: c for c in report.comparisons if c.arm == arm and c.point == point}
            if found:
                cells = [cell for metric in metrics for cell in _difference_cells(found.get(metric), report.study)]
                rows.append((Cell(arm), *cells, Cell(_pairs(found.values()))))
        if rows:
            tables.append(Table(_title(f"Differences to {report.study.compare.baseline}", point), header, tuple(rows)))
    return tables


def search_tables(report: Report) -> list[Table]:
    """One table with a row per searched arm: its trials over all points, and the best objective at each point."""
    search = report.study.search
    if search is None:
        return []
    trials = [a for a in report.aggregates if a.stage == "search" and a.metric == search.objective]
    rows = []
    for arm in report.study.arms:
        own = [a for a in trials if a.arm == arm]
        if own:
            tried = count(sum(a.n > 0 for a in own), len(own))
            best = [_highest([a for a in own if a.point == point]) for point in report.study.points()]
            rows.append((Cell(arm), Cell(tried), Cell("; ".join(map(_mean_text, best)))))
    unit = " (%)" if is_accuracy(search.objective) else ""
    where = " at each point" if report.study.grid else ""
    header = ("arm", "trials", f"best {search.objective}{unit}{where}")
    return [Table("Search on validation", header, tuple(rows), (0, 2))] if rows else []


def is_significant(comparison: Comparison, study: Study) -> bool:
    """Whether the corrected p-value is below 1 - confidence."""
    # Compared as a sum, because 1 - 0.95 is a little more than 0.05.
    return comparison.p_corrected is not None and comparison.p_corrected + study.compare.confidence < 1


def main_metrics(study: Study) -> list[str]:
    """The test metrics of the main table: for each k top-k and average-k accuracy and the mean size of the sets."""
    return [metric.on("test").name for k in study.k for metric in (*plain_accuracies([k]), set_size(k))]


def _shown_metrics(report: Report) -> list[str]:
    """What the study compares, the sizes of those sets, and macro averages where these differ from the plain ones."""
    means = {(a.arm, point_key(a.point), a.metric): a.mean for a in _confirmed(report)}
    main = main_metrics(report.study)
    macro = {
        metric
        for (arm, point, metric), mean in means.items()
        if (plain := _plain(metric)) in main and _differ(mean, means.get((arm, point, plain)))
    }
    known = {metric for _, _, metric in means}
    compared = set(report.study.compare.metrics)
    sizes = {metric for metric in main if _accuracy(metric) in compared}
    return in_order(report.study, ({*(sizes or main), *macro, *compared} & known) or main)


def _plain(metric: str) -> str:
    return Metric.parse(metric).plain.name if Metric.find(metric) else metric


def _accuracy(metric: str) -> str:
    return replace(Metric.parse(metric), quantity="accuracy").name


def _differ(first: float | None, second: float | None) -> bool:
    return first is not None and second is not None and abs(first - second) > 1e-9


def in_order(study: Study, metrics: Iterable[str]) -> list[str]:
    """The metrics in the order of the main table, those that it lacks after them."""
    main = main_metrics(study)
    return sorted(metrics, key=lambda m: (main.index(m) if m in main else len(main), m))


def _result_rows(report: Report, point: Point, metrics: Sequence[str]) -> list[tuple[Cell, ...]]:
    found = {(a.arm, a.metric): a for a in _confirmed(report) if a.point == point}
    chosen = {c.arm: c for c in report.chosen if c.point == point}
    best = {m: _highest([a for (_, metric), a in found.items() if metric == m]) for m in metrics}
    rows = []
    for arm in report.study.arms:
        choice = chosen.get(arm)
        done, planned = (choice.done, len(choice.seeds)) if choice else (0, len(report.study.confirm_seeds))
        cells = [_mean_cell(found.get((arm, metric)), done, best[metric]) for metric in metrics]
        params = settings(choice.params) if choice else ""
        rows.append((Cell(arm), *cells, Cell(count(done, planned)), Cell(params or MISSING)))
    return rows


def _highest(aggregates: Iterable[Aggregate]) -> Aggregate | None:
    known = [a for a in aggregates if a.mean is not None]
    return max(known, key=lambda a: a.mean or 0.0, default=None)


def _mean_cell(aggregate: Aggregate | None, done: int, best: Aggregate | None) -> Cell:
    if aggregate is None or best is None:
        return Cell(MISSING)
    partial = f" (n = {aggregate.n})" if 0 < aggregate.n != done else ""
    return Cell(_mean_text(aggregate) + partial, is_accuracy(aggregate.metric) and aggregate.mean == best.mean)


def _mean_text(aggregate: Aggregate | None) -> str:
    if aggregate is None:
        return MISSING
    return with_half_width(aggregate.metric, aggregate.mean, aggregate.ci_low, aggregate.ci_high)


def _difference_cells(comparison: Comparison | None, study: Study) -> tuple[Cell, Cell]:
    if comparison is None:
        return Cell(MISSING), Cell(MISSING)
    c = comparison
    mark = SIGNIFICANT if is_significant(c, study) else ""
    difference = with_half_width(c.metric, c.difference, c.ci_low, c.ci_high, signed=True)
    return Cell(difference), Cell(p_value(c.p_corrected) + mark)


def _pairs(comparisons: Iterable[Comparison]) -> str:
    sizes = sorted({c.n for c in comparisons})
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"


def _title(subject: str, point: Point) -> str:
    return f"{subject}, {settings(point)}" if point else subject


def _confirmed(report: Report) -> list[Aggregate]:
    return [a for a in report.aggregates if a.stage == "confirm"]
