"""The tables of differences between arms: all metrics at each point, and the primary one closer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.shown_metrics import in_order
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import (
    MISSING,
    contrast_name,
    half_open,
    in_brackets,
    metric_label,
    number,
    p_value,
    place,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.over_sets import OverSets
from setsweep.sweeps.study.design.configuration import DATA_NAME

SIGNIFICANT = "*"


def difference_tables(report: Report) -> list[Table]:
    """A table per grid point with a row per contrast: paired differences and corrected p-values."""
    metrics = in_order(report.study, {c.metric for c in report.comparisons})
    names = [name for metric in metrics for name in (_difference_label(metric), "p")]
    header = ("arm", *names, "n")
    tables = []
    for point in report.study.points():
        rows = []
        here = [c for c in report.comparisons if c.point == point]
        for name, found in _by_contrast(report, here).items():
            cells = [cell for metric in metrics for cell in _difference_cells(found.get(metric))]
            rows.append((Cell(name), *cells, Cell(_pairs(found.values()))))
        if rows:
            tables.append(Table(place(_subject(report), point), header, tuple(rows)))
    return tables


def primary_tables(report: Report) -> list[Table]:
    """A table with a row per contrast of the primary metric that has a test: how large, how sure, what is seen."""
    found = [c for c in report.comparisons if c.details and c.p is not None]
    if not found:
        return []
    metrics = list(dict.fromkeys(c.metric for c in found))
    together = f"together {100 * report.study.compare.confidence:g} %"
    columns = ["arm", *(["at"] if report.study.grid else []), *(["metric"] if len(metrics) > 1 else [])]
    header = [*columns, _difference_label(metrics[0]) if len(metrics) == 1 else "Δ", together, "corrected p", "g_z"]
    header += ["better on a seed (%)", "detectable"]
    margin = report.study.compare.equivalent
    header += [] if margin is None else [f"p of |Δ| >= {margin:g}"]
    rows = [tuple(Cell(text) for text in _primary_row(report, c, columns)) for c in found]
    title = f"Closer: {metric_label(metrics[0])}" if len(metrics) == 1 else "Closer: each arm at its own k"
    return [Table(title, (*header, "n"), tuple(rows), tuple(range(len(columns))))]


def over_sets_tables(report: Report) -> list[Table]:
    """A table with a row per contrast over all data sets, where the grid has several."""
    found = report.over_sets
    if not found:
        return []
    rest = [path for path in report.study.grid if path != DATA_NAME]
    columns = ["arm", *(["at"] if rest else []), "metric"]
    average = "mean" if found[0].found.method == "mean" else "median"
    percent = f"{100 * report.study.compare.confidence:g} %"
    header = (*columns, f"{average} Δ", percent, "corrected p", "sd between sets")
    rows = [tuple(map(Cell, _over_sets_row(report, each, columns))) for each in found]
    title = f"Differences over {found[0].found.sets} data sets"
    return [Table(title, header, tuple(rows), tuple(range(len(columns))))]


def _over_sets_row(report: Report, each: OverSets, columns: Sequence[str]) -> list[str]:
    found, metric = each.found, each.metric
    names = {"arm": contrast_name(report.study, each), "at": settings(each.point), "metric": metric_label(metric)}
    return [
        *(names[column] for column in columns),
        number(metric, found.difference, signed=True),
        in_brackets(metric, found.ci_low, found.ci_high, signed=True),
        p_value(each.p_corrected) + (SIGNIFICANT if each.significant else ""),
        number(metric, found.between),
    ]


def _primary_row(report: Report, c: Comparison, columns: Sequence[str]) -> list[str]:
    details = c.details
    assert details is not None
    names = {"arm": contrast_name(report.study, c), "at": settings(c.point), "metric": metric_label(c.metric)}
    together = half_open(c.metric, details.simultaneous_low, details.simultaneous_high)
    row = [
        *(names[column] for column in columns),
        with_half_width(c.metric, c.difference, c.ci_low, c.ci_high, signed=True),
        together,
        _p_text(c),
        _estimate(details.effect, details.effect_low, details.effect_high, "+.2f"),
        _estimate(details.better, details.better_low, details.better_high, ".0f", unit=100),
        number(c.metric, details.detectable),
    ]
    if details.equivalent is not None:
        row.append(p_value(details.p_equivalent) + (SIGNIFICANT if details.equivalent else ""))
    return [*row, str(c.n)]


def _estimate(value: float | None, low: float | None, high: float | None, form: str, *, unit: float = 1) -> str:
    if value is None or low is None or high is None:
        return MISSING
    return f"{unit * value:{form}} [{unit * low:{form}}, {unit * high:{form}}]"


def _by_contrast(report: Report, found: Iterable[Comparison]) -> Mapping[str, dict[str, Comparison]]:
    """The comparisons of each contrast by metric."""
    rows: dict[str, dict[str, Comparison]] = {}
    for c in found:
        rows.setdefault(contrast_name(report.study, c), {})[c.metric] = c
    return rows


def _subject(report: Report) -> str:
    baseline = report.study.compare.baseline
    return "Differences" if baseline is None else f"Differences to {baseline}"


def _difference_label(metric: str) -> str:
    return f"Δ {metric_label(metric)}".replace("(%)", "(points)")


def _difference_cells(comparison: Comparison | None) -> tuple[Cell, Cell]:
    if comparison is None:
        return Cell(MISSING), Cell(MISSING)
    c = comparison
    difference = with_half_width(c.metric, c.difference, c.ci_low, c.ci_high, signed=True)
    return Cell(difference), Cell(_p_text(c))


def _p_text(c: Comparison) -> str:
    """The corrected p; in brackets that by itself of what is exploratory."""
    if c.role == "exploratory" and c.p is not None:
        return f"({p_value(c.p)})"
    return p_value(c.p_corrected) + (SIGNIFICANT if c.significant else "")


def _pairs(comparisons: Iterable[Comparison]) -> str:
    sizes = sorted({c.n for c in comparisons})
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"
