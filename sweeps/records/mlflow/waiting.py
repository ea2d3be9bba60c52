"""What is to be written of a run, as the tables of MLflow's database have it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

LARGEST = 1.7976931348623157e308  # stands for infinity, like MLflow

Values = dict[str, Any]  # of a row, by column
MetricValues = tuple[str, float, int, int, bool, str]  # key, value, timestamp, step, is_nan, run: MLflow's columns


@dataclass
class Waiting:
    """What waits to be written of a run.

    Args:
        run: its row; None: it is in the database already.
        changes: of that row.
        tags, params: by name.
        metrics: their rows.
        latest: the latest of them by name, as MLflow understands it.
        datasets: that it rests on: name, digest, settings.
    """

    run: Values | None = None
    changes: Values = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[MetricValues] = field(default_factory=list)
    latest: dict[str, MetricValues] = field(default_factory=dict)
    datasets: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, run_id: str, metric: MetricRow) -> None:
        """A value of a metric, which databases have in a form of their own where it is not finite."""
        name, value, time, step = metric
        is_nan = math.isnan(value)
        if is_nan:
            value = 0.0
        elif math.isinf(value):
            value = math.copysign(LARGEST, value)
        row = (name, value, time, step, is_nan, run_id)
        self.metrics.append(row)
        latest = self.latest.get(name)
        if latest is None or (step, time, value) > (latest[3], latest[2], latest[1]):
            self.latest[name] = row
