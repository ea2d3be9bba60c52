"""The numbers of a report's confirmed configurations, seed by seed, as the script in the page reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from setsweep.sweeps.reports.colours import colour
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.shown_metrics import in_order
from setsweep.sweeps.reports.wording import long_metric_label, scaled, settings
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.methods.student import MIN_SPREAD, t_quantile
from setsweep.sweeps.study.study import point_key
from setsweep.trainables.evaluation.metric import Metric

STAGES = {"confirm": "", "default": " (default)"}  # what is shown of an arm, and how the second is told from the first
DIGITS = 5  # significant ones: a digit more than is shown of a percentage


def numbers(report: Report) -> dict[str, Any]:
    """Plain data: metrics, grid points, and a row for each configuration; values in the unit that they are shown in.

    A row has the place of its point, its seeds, and by the place of the metric [mean, low, high] and the seeds' values;
    null is what is not defined. `t` has the quantile of Student's t by the number of values, for the differences to
    another baseline, which the page forms by itself.
    """
    study = report.study
    shown = [a for a in report.aggregates if a.stage in STAGES and Metric.find(a.metric) is not None]
    metrics = in_order(study, {a.metric for a in shown})
    points = [point_key(point) for point in study.points()]
    rows: dict[tuple[str, str, str], list[Aggregate]] = {}
    for each in shown:
        rows.setdefault((each.arm, each.stage, point_key(each.point)), []).append(each)
    places = {metric: place for place, metric in enumerate(metrics)}
    most = max((a.n for a in shown), default=0)
    quantile = (1 + study.compare.confidence) / 2
    return {
        "confidence": study.compare.confidence,
        "primary": places.get(study.primary, 0),
        "equal": MIN_SPREAD,
        "metrics": [_metric(metric) for metric in metrics],
        "points": [settings(point) for point in study.points()],
        "t": {str(n): _rounded(t_quantile(quantile, n - 1)) for n in range(2, most + 1)},
        "rows": [
            {
                "arm": f"{arm}{STAGES[stage]}",
                "colour": colour(list(study.arms).index(arm)),
                "params": settings(group[0].params),
                "point": points.index(point),
                **_by_seed(group, places),
            }
            for (arm, stage, point), group in rows.items()
        ],
    }


def _metric(name: str) -> dict[str, Any]:
    metric = Metric.parse(name)
    return {"name": name, "label": long_metric_label(name), "more": metric.is_accuracy}


def _by_seed(group: Sequence[Aggregate], places: Mapping[str, int]) -> dict[str, Any]:
    """One configuration's seeds, those that failed, and its values by metric."""
    seeds = group[0].seeds
    values: list[list[float | None] | None] = [None] * len(places)
    means: list[list[float | None] | None] = [None] * len(places)
    for each in group:
        place = places[each.metric]
        values[place] = [_shown(each.metric, each.values.get(seed)) for seed in seeds]
        means[place] = [_shown(each.metric, value) for value in (each.mean, each.ci_low, each.ci_high)]
    return {"seeds": seeds, "failed": sorted(group[0].failed), "means": means, "values": values}


def _shown(metric: str, value: float | None) -> float | None:
    return None if value is None else _rounded(scaled(metric, value))


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
