"""Charts of the MLflow UI, as the state of a view names them.

Field for field what MLflow's own page keeps of a chart (`RunsChartsCardConfig` in its source). The page draws a chart
of its own for each metric that no chart of the state has as its ``metricKey``: those are named as deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Chart = dict[str, Any]


def layout(section: str, charts: Sequence[Chart], hidden: Iterable[str]) -> dict[str, Any]:
    """The state of a page with one section of charts and nothing else.

    Args:
        section: its heading.
        charts: in the order in which they are shown.
        hidden: metrics of the runs that get no chart.
    """
    shown = {chart.get("metricKey") for chart in charts}
    stubs = [_deleted(metric) for metric in hidden if metric not in shown]
    return {
        "compareRunSections": [
            {"uuid": _SECTION, "name": section, "display": True, "isReordered": True, "deleted": False}
        ],
        "compareRunCharts": [*charts, *stubs],
        "isAccordionReordered": True,
        "runsHiddenMode": "SHOW_ALL",
        "hideEmptyCharts": True,
    }


def line(title: str, metrics: Sequence[str], *, x_metric: str = "", x_log: bool = False) -> Chart:
    """Curves of one or several metrics in one chart, over epochs or over another metric of the same steps."""
    return {
        **_card("LINE", title),
        "metricKey": metrics[0],
        "selectedMetricKeys": list(metrics),
        "displayName": title,
        "lineSmoothness": 0,
        "xAxisScaleType": "log" if x_log else "linear",
        "scaleType": "linear",
        "xAxisKey": "metric" if x_metric else "step",
        "selectedXAxisMetricKey": x_metric,
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "range": {},
        "ignoreOutliers": False,
        "useGlobalXaxisKey": False,
        "useGlobalLineSmoothing": True,
    }


def bars(title: str, metric: str) -> Chart:
    """A bar a row, of its final value."""
    return {**_card("BAR", title), "metricKey": metric, "displayName": title, "runsCountToCompare": 100}


def scatter(title: str, x: tuple[str, str], y: tuple[str, str]) -> Chart:
    """A dot a row; the axes are ("PARAM" or "METRIC", name)."""
    return {
        **_card("SCATTER", title),
        "displayName": title,
        "xaxis": {"key": x[1], "type": x[0]},
        "yaxis": {"key": y[1], "type": y[0]},
        "runsCountToCompare": 500,
    }


def parallel(title: str, params: Sequence[str], metrics: Sequence[str]) -> Chart:
    """A line a row through its parameters and metrics, side by side."""
    return {
        **_card("PARALLEL", title),
        "displayName": title,
        "selectedParams": list(params),
        "selectedMetrics": list(metrics),
        "showAllRuns": True,
        "runsCountToCompare": 500,
    }


_SECTION = "setsweep"


def _card(kind: str, title: str) -> Chart:
    return {
        "type": kind,
        "uuid": f"{kind}:{title}",
        "metricSectionId": _SECTION,
        "deleted": False,
        "isGenerated": False,
    }


def _deleted(metric: str) -> Chart:
    card = {"type": "BAR", "uuid": metric, "metricSectionId": _SECTION, "metricKey": metric}
    return {**card, "deleted": True, "isGenerated": True}
