"""A report as CSV, a row an aggregate. Values are in record units (0.93, not 93 %)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.aggregates import STATISTICS, Aggregate

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def text(report: Report) -> str:
    """A row per aggregate; a column per grid key ("point.<key>") and per hyperparameter ("params.<name>")."""
    points = [f"point.{name}" for name in report.study.grid]
    params = list(dict.fromkeys(f"params.{name}" for a in report.aggregates for name in a.params))
    columns = ["arm", *points, *params, "stage", "trial", "metric", *STATISTICS, "planned", "failed", "values"]
    return _written(columns, map(_csv_row, report.aggregates))


def comparisons(report: Report) -> str:
    """A row per difference between two arms; those by the primary metric have more columns filled."""
    rows = [
        {"arm": each.arm, **{f"point.{name}": value for name, value in each.point.items()}, **each.numbers}
        for each in report.comparisons
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["arm", "baseline", "metric"]
    return _written(columns, rows)


def _written(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    lines = io.StringIO()
    writer = csv.DictWriter(lines, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _inert(value) for name, value in row.items()} for row in rows)
    return lines.getvalue()


def _inert(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it: then it is text there too."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _csv_row(aggregate: Aggregate) -> dict[str, Any]:
    return {
        **{name: getattr(aggregate, name) for name in ("arm", "stage", "trial", "metric", *STATISTICS)},
        **{f"point.{name}": value for name, value in aggregate.point.items()},
        **{f"params.{name}": value for name, value in aggregate.params.items()},
        "planned": len(aggregate.seeds),
        "failed": json.dumps(dict(aggregate.failed), ensure_ascii=False),
        "values": json.dumps(dict(aggregate.values)),
    }
