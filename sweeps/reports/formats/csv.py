"""A report as CSV, a row an aggregate. Values are in record units (0.93, not 93 %)."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.aggregates import STATISTICS, Aggregate


def text(report: Report) -> str:
    """A row per aggregate; a column per grid key ("point.<key>") and per hyperparameter ("params.<name>")."""
    points = [f"point.{name}" for name in report.study.grid]
    params = list(dict.fromkeys(f"params.{name}" for a in report.aggregates for name in a.params))
    columns = ["arm", *points, *params, "stage", "trial", "metric", *STATISTICS, "planned", "failed", "values"]
    lines = io.StringIO()
    writer = csv.DictWriter(lines, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_csv_row, report.aggregates))
    return lines.getvalue()


def _csv_row(aggregate: Aggregate) -> dict[str, Any]:
    return {
        **{name: getattr(aggregate, name) for name in ("arm", "stage", "trial", "metric", *STATISTICS)},
        **{f"point.{name}": value for name, value in aggregate.point.items()},
        **{f"params.{name}": value for name, value in aggregate.params.items()},
        "planned": len(aggregate.seeds),
        "failed": json.dumps(dict(aggregate.failed), ensure_ascii=False),
        "values": json.dumps(dict(aggregate.values)),
    }
