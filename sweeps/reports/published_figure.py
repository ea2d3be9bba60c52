"""The figure that draws what was published beside what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports.panels import add_title, look, name_rows, names_width, panels, save
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.wording import long_metric_label, place, scaled
from setsweep.sweeps.statistics.published import Beside, by_place


def draw_published(report: Report, where: str, path: Path) -> Path | None:
    """A panel per metric of one of a paper's tables: ours as a dot with its interval, published as a hollow diamond.

    The whiskers of what was published are what its paper prints, interval or deviation. None where nothing of it has
    been found yet.
    """
    shown = by_place(report.published)[where]
    if not any(each.mean is not None for each in shown):
        return None
    metrics = list(dict.fromkeys(each.published.metric for each in shown))
    rows = list(dict.fromkeys(_name(each) for each in shown))
    figure, axes = panels(len(metrics), columns=2, width=3.6, height=1.3 + 0.4 * len(rows), margin=names_width(rows))
    arms = list(report.study.arms)
    for axis, metric in zip(axes, metrics, strict=True):
        for each in shown:
            if each.published.metric == metric:
                _draw(axis, rows.index(_name(each)), each, arms.index(each.published.arm))
        axis.set_xlabel(long_metric_label(metric))
    name_rows(axes, 2, rows)
    confidence = f"{100 * report.study.compare.confidence:g} % intervals over seeds"
    add_title(figure, [report.study.name, f"ours (filled, {confidence}) beside {where} (hollow)"])
    return save(figure, path)


def _draw(axis: Axes, row: int, each: Beside, arm: int) -> None:
    paper, metric, colour = each.published, each.published.metric, look(arm)["color"]
    if each.mean is not None:
        if each.ci_low is not None and each.ci_high is not None:
            ends = [scaled(metric, each.ci_low), scaled(metric, each.ci_high)]
            axis.plot(ends, [row - 0.14] * 2, color=colour, linewidth=1.6)
        axis.plot([scaled(metric, each.mean)], [row - 0.14], marker="o", markersize=6, color=colour)
    if paper.spread is not None:
        ends = [scaled(metric, paper.mean - paper.spread), scaled(metric, paper.mean + paper.spread)]
        axis.plot(ends, [row + 0.14] * 2, color=colour, linewidth=1, linestyle="--")
    face: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": colour}
    axis.plot([scaled(metric, paper.mean)], [row + 0.14], marker="D", markersize=5, linestyle="none", **face)


def _name(each: Beside) -> str:
    return place(each.published.arm, each.published.point)
