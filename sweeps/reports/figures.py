"""The figures of a report as PNG files: metrics over the grid or per arm, paired differences, sensitivity.

Importing this module imports matplotlib, which takes a second: do it where figures are drawn.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports.panels import (
    LEGEND_WIDTH,
    add_legend,
    add_title,
    file_name,
    look,
    name_rows,
    names_width,
    panels,
    save,
)
from setsweep.sweeps.reports.published_figure import draw_published
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity_figure import draw_sensitivity
from setsweep.sweeps.reports.shown_metrics import in_order, main_metrics
from setsweep.sweeps.reports.wording import contrast_name, is_accuracy, is_share, long_metric_label, scaled, settings
from setsweep.sweeps.reports.x_axis import is_number, lay_out, natural_scale
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.methods.intervals import cut_to
from setsweep.sweeps.statistics.published import by_place
from setsweep.sweeps.study.study import Point

KINDS = ("metrics", "differences", "sensitivity")
MOST_BY_ITSELF = 12  # values of a grid's longest key at which differences have a figure each; else one over all of them
BAND_FROM = 3  # points of a line: a band between two would tell of what lies between them
Failed = Callable[[Path, Exception], None]
Estimate = tuple[float | None, float | None, float | None]  # with the ends of its interval


def write_figures(report: Report, folder: Path, failed: Failed | None = None) -> list[Path]:
    """Draws what the report has data for into `folder` (made where missing); gives the files in reading order.

    With a numeric grid the metrics are drawn against its longest numeric key, one file for each combination of the
    other keys; without one, one file per point has a dot and an interval per arm. Files are named after what they show
    and their point of the grid; those of an earlier report that this one does not have are removed.

    Args:
        report: what is drawn.
        folder: for the files.
        failed: called with the file and the error of a figure that can't be drawn, which is then left out; None: the
            error is raised.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path | None] = []
    for path, draw in _drawings(report, folder):
        try:
            drawn.append(draw(path))
        except Exception as error:  # a figure must not cost the tables, whatever is wrong with it
            if failed is None:
                raise
            failed(path, error)
    made = [path for path in drawn if path]
    for path in folder.glob("*.png"):  # of a report before, of another grid
        if path not in made and re.fullmatch(rf"({'|'.join(KINDS)})-\d+(-.*)?\.png", path.name):
            path.unlink()
    return made


def _drawings(report: Report, folder: Path) -> Iterator[tuple[Path, Callable[[Path], Path | None]]]:
    """Every figure that there may be: its file, and what draws it where there is something to draw."""
    metrics, axis = _drawn_metrics(report), numeric_axis(report)
    points = list(enumerate(report.study.points(), 1))
    if metrics and axis:
        for index, rest in enumerate(_rest_of_grid(report, axis), 1):
            yield folder / file_name("metrics", index, rest), partial(_draw_over_grid, report, metrics, axis, rest)
    elif metrics:
        for index, point in points:
            yield folder / file_name("metrics", index, point), partial(_draw_per_arm, report, metrics, point)
    if axis and len(report.study.grid[axis]) > MOST_BY_ITSELF:
        for index, rest in enumerate(_rest_of_grid(report, axis), 1):
            name = file_name("differences", index, rest)
            yield folder / name, partial(_draw_differences_over_grid, report, axis, rest)
    else:
        for index, point in points:
            yield folder / file_name("differences", index, point), partial(_draw_differences, report, point)
    for index, where in enumerate(by_place(report.published), 1):
        yield folder / f"published-{index}.png", partial(draw_published, report, where)
    for index, point in points:
        yield folder / file_name("sensitivity", index, point), partial(draw_sensitivity, report, point)


def numeric_axis(report: Report) -> str | None:
    """The grid key with the most numbers among its values, at least two, and no list; None without one."""
    grid = report.study.grid.items()
    sizes = {key: sum(map(is_number, values)) for key, values in grid if all(isinstance(v, Hashable) for v in values)}
    longest = max(sizes, key=lambda key: sizes[key], default=None)
    return longest if longest and sizes[longest] > 1 else None


def _draw_over_grid(report: Report, metrics: Sequence[str], key: str, rest: Point, path: Path) -> Path | None:
    """A panel per metric, in each a line and a band per arm against the values of `key`."""
    confirmed = [a for a in _confirmed(report) if rest.items() <= a.point.items()]
    if not confirmed:
        return None
    values = report.study.grid[key]
    figure, axes = panels(len(metrics), columns=2, width=4.4, height=3.2, margin=LEGEND_WIDTH)
    for axis, metric in zip(axes, metrics, strict=True):
        positions = lay_out(axis, values, natural_scale(values))
        for index, arm in enumerate(report.study.arms):
            own = {positions[a.point[key]]: a for a in confirmed if a.arm == arm and a.metric == metric}
            found = {position: (a.mean, *_ends(a)) for position, a in sorted(own.items())}
            _line_and_band(axis, metric, found, min(0.15, 0.6 / len(report.study.arms)), {"label": arm, **look(index)})
        axis.set_xlabel(key)
        axis.set_ylabel(long_metric_label(metric))
    add_title(figure, [report.study.name, settings(rest), _intervals(report)])
    add_legend(figure, axes)
    return save(figure, path)


def _line_and_band(
    axis: Axes, metric: str, found: Mapping[float, Estimate], alpha: float, style: Mapping[str, Any]
) -> None:
    """Estimates joined by a line, with the band of their intervals, or with each by itself where they are few."""
    middles = [scaled(metric, middle) for middle, _, _ in found.values() if middle is not None]
    axis.plot([*found], middles, markersize=4, linewidth=1.4, **style)
    bounded = [(at, low, high) for at, (_, low, high) in found.items() if low is not None and high is not None]
    if not bounded:
        return
    at, low, high = zip(*bounded, strict=True)
    below, above = ([scaled(metric, end) for end in each] for each in (low, high))
    if len(at) < BAND_FROM:
        axis.vlines(at, below, above, color=style["color"], linewidth=1.2, alpha=0.7)
    else:
        axis.fill_between(at, below, above, color=style["color"], alpha=alpha, linewidth=0)


def _draw_per_arm(report: Report, metrics: Sequence[str], point: Point, path: Path) -> Path | None:
    """A panel per metric, in each a dot with its interval per arm."""
    confirmed = [a for a in _confirmed(report) if a.point == point]
    if not confirmed:
        return None
    arms = list(report.study.arms)
    figure, axes = panels(len(metrics), columns=2, width=3.4, height=1.1 + 0.32 * len(arms), margin=names_width(arms))
    for axis, metric in zip(axes, metrics, strict=True):
        for a in confirmed:
            if a.metric == metric and a.mean is not None:
                row = arms.index(a.arm)
                _interval(axis, row, metric, (a.mean, *_ends(a)), look(row))
        axis.set_xlabel(long_metric_label(metric))
    name_rows(axes, 2, arms)
    add_title(figure, [report.study.name, settings(point), _intervals(report)])
    return save(figure, path)


def _draw_differences(report: Report, point: Point, path: Path) -> Path | None:
    """A panel per metric, in each a paired difference with its interval per contrast; filled: significant.

    Of the primary metric the interval that covers together with all others is drawn as well, thinly, where both of its
    ends are told: it leaves out 0 exactly where the corrected p is significant.
    """
    comparisons = [c for c in report.comparisons if c.point == point and c.difference is not None]
    metrics = in_order(report.study, {c.metric for c in comparisons})
    if not metrics:
        return None
    rows = list(dict.fromkeys(contrast_name(report.study, c) for c in report.comparisons))
    height = 1.2 + 0.32 * len(rows)
    figure, axes = panels(len(metrics), columns=2, width=3.6, height=height, margin=names_width(rows))
    for axis, metric in zip(axes, metrics, strict=True):
        axis.axvline(0, color="#555555", linewidth=1)
        for c in comparisons:
            if c.metric == metric and c.difference is not None:
                style = look(list(report.study.arms).index(c.arm))
                face = {} if c.significant else {"markerfacecolor": "white"}
                row = rows.index(contrast_name(report.study, c))
                if (together := _together(c)) is not None:
                    axis.plot(
                        [scaled(metric, end) for end in together], [row, row], color=style["color"], linewidth=0.8
                    )
                _interval(axis, row, metric, (c.difference, c.ci_low, c.ci_high), {**style, **face})
        axis.set_xlabel(f"Δ {long_metric_label(metric).replace('(%)', '(points)')}")
    name_rows(axes, 2, rows)
    each = f"{_intervals(report)}, each by itself"
    each += "; thin: all together" if any(map(_together, comparisons)) else ""
    add_title(figure, [report.study.name, settings(point), _subject(report), each])
    return save(figure, path)


def _draw_differences_over_grid(report: Report, key: str, rest: Point, path: Path) -> Path | None:
    """A panel per metric, in each a line and a band per contrast against the values of `key`; filled: significant."""
    comparisons = [c for c in report.comparisons if rest.items() <= c.point.items() and c.difference is not None]
    metrics = in_order(report.study, {c.metric for c in comparisons})
    if not metrics:
        return None
    names = list(dict.fromkeys(contrast_name(report.study, c) for c in report.comparisons))
    values, arms = report.study.grid[key], list(report.study.arms)
    figure, axes = panels(len(metrics), columns=2, width=4.4, height=3.2, margin=LEGEND_WIDTH)
    for axis, metric in zip(axes, metrics, strict=True):
        axis.axhline(0, color="#555555", linewidth=1)
        positions = lay_out(axis, values, natural_scale(values))
        for name in names:
            of_it = [c for c in comparisons if c.metric == metric and contrast_name(report.study, c) == name]
            own = dict(sorted((positions[c.point[key]], c) for c in of_it))
            if own:
                style = {**look(arms.index(of_it[0].arm)), "label": name}
                found = {at: (c.difference, c.ci_low, c.ci_high) for at, c in own.items()}
                _line_and_band(axis, metric, found, min(0.15, 0.6 / len(names)), {**style, "markerfacecolor": "white"})
                _fill(axis, metric, [(at, c) for at, c in own.items() if c.significant], style)
        axis.set_xlabel(key)
        axis.set_ylabel(f"Δ {long_metric_label(metric).replace('(%)', '(points)')}")
    add_title(figure, [report.study.name, settings(rest), _subject(report), f"{_intervals(report)}, each by itself"])
    add_legend(figure, axes)
    return save(figure, path)


def _fill(axis: Axes, metric: str, found: Sequence[tuple[float, Comparison]], style: Mapping[str, Any]) -> None:
    """Filled markers over those of a line, which are empty."""
    x, y = [at for at, _ in found], [scaled(metric, c.difference) for _, c in found if c.difference is not None]
    axis.plot(x, y, color=style["color"], marker=style["marker"], linestyle="", markersize=4)


def _subject(report: Report) -> str:
    """What the figures of differences show."""
    baseline, alpha = report.study.compare.baseline, 1 - report.study.compare.confidence
    return f"difference{f' to {baseline}' if baseline else ''} (filled: corrected p < {alpha:.3g})"


def _together(c: Comparison) -> tuple[float, float] | None:
    """The ends of the interval that matches the corrected p; None where there is none, or only its sign is told."""
    low, high = (None, None) if c.details is None else (c.details.simultaneous_low, c.details.simultaneous_high)
    return None if low is None or high is None else (low, high)


def _interval(
    axis: Axes,
    row: int,
    metric: str,
    numbers: tuple[float, float | None, float | None],
    style: Mapping[str, Any],
) -> None:
    middle, low, high = numbers
    if low is not None and high is not None:
        axis.plot([scaled(metric, low), scaled(metric, high)], [row, row], color=style["color"], linewidth=1.6)
    axis.plot([scaled(metric, middle)], [row], markersize=6, **style)


def _ends(aggregate: Aggregate) -> tuple[float | None, float | None]:
    """The ends of a mean's interval; those of a share within 0 and 1."""
    low, high = aggregate.ci_low, aggregate.ci_high
    if low is None or high is None or not is_share(aggregate.metric):
        return low, high
    ends = cut_to(low, high)
    return ends.ci_low, ends.ci_high


def _intervals(report: Report) -> str:
    return f"{100 * report.study.compare.confidence:g} % intervals over seeds"


def _drawn_metrics(report: Report) -> list[str]:
    known = {a.metric for a in _confirmed(report)}
    accuracies = [metric for metric in main_metrics(report.study) if is_accuracy(metric)]
    named = [metric for metric in report.study.compared if metric not in accuracies]
    return [metric for metric in accuracies + named if metric in known]


def _confirmed(report: Report) -> list[Aggregate]:
    return [a for a in report.confirmed if a.mean is not None]


def _rest_of_grid(report: Report, key: str) -> list[dict[str, Any]]:
    rest = {name: values for name, values in report.study.grid.items() if name != key}
    return [dict(zip(rest, values, strict=True)) for values in itertools.product(*rest.values())]
