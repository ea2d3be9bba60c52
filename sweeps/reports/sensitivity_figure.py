"""Sensitivity: the search's objective against each searched hyperparameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.panels import add_title, look, panel_rows, panels, save
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.wording import long_metric_label, scaled, settings
from setsweep.sweeps.reports.x_axis import lay_out, natural_scale
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Point, point_key

CURVE_FROM = 5  # values of the one hyperparameter that an arm searches
_WIDTH, _HEIGHT = 3.8, 3.0  # inches of a panel
_MARGIN = 0.15  # of the range of the means, at least, above and below them


def draw_sensitivity(report: Report, point: Point, path: Path) -> Path | None:
    """A panel for each searched hyperparameter at one grid point, a row of them an arm; a dot a trial.

    Where an arm searches one hyperparameter alone and has tried enough values, a line joins the trials, with the band
    of their intervals; else each has its interval, as its neighbours differ in more than what the panel shows. The
    intervals share the variance of all trials, as a few seeds of one say little of it. The y axis has room for those of
    median width, and others may run out of it. The chosen configuration is ringed.
    """
    search = report.study.search
    if search is None:
        return None
    here = [a for arm in report.study.arms for a in report.at_place.get((arm, point_key(point)), ())]
    trials = [a for a in here if a.stage == "search" and a.metric == search.objective and a.mean is not None]
    trials = [_pooled(report, a) for a in trials]
    rows = {arm: spaces for arm in report.study.arms if (spaces := _tried(report, arm, trials))}
    if not rows:
        return None
    figure, axes = _rows_of_panels([len(spaces) for spaces in rows.values()])
    for (arm, spaces), own in zip(rows.items(), axes, strict=True):
        style = look(list(report.study.arms).index(arm))
        of_arm = [a for a in trials if a.arm == arm]
        for axis, (name, space) in zip(own, spaces.items(), strict=True):
            _draw_panel(axis, of_arm, name, space, _chosen_params(report, arm, point), style, alone=len(spaces) == 1)
            axis.set_title(arm, fontsize=10)
            axis.set_xlabel(name)
        own[0].set_ylabel(long_metric_label(search.objective))
    percent = f"{100 * report.study.compare.confidence:g} %"
    over = f"{percent} intervals over {_seeds(trials)}, variance of all trials"
    add_title(figure, [report.study.name, settings(point), "sensitivity (ring: chosen)", over])
    return save(figure, path)


def _rows_of_panels(counts: Sequence[int]) -> tuple[Figure, list[list[Axes]]]:
    """The panels of each arm: a row, or, where all have one alone, side by side."""
    if max(counts) > 1:
        return panel_rows(counts, width=_WIDTH, height=_HEIGHT)
    figure, axes = panels(len(counts), columns=3, width=_WIDTH, height=_HEIGHT)
    return figure, [[axis] for axis in axes]


def _seeds(trials: Sequence[Aggregate]) -> str:
    """How many seeds trials have: "1 seed", "1 to 9 seeds"."""
    least, most = min(a.n for a in trials), max(a.n for a in trials)
    return f"{most} {'seed' if most == 1 else 'seeds'}" if least == most else f"{least} to {most} seeds"


def _pooled(report: Report, trial: Aggregate) -> Aggregate:
    interval = report.search_intervals[trial.candidate]
    return replace(trial, ci_low=interval.ci_low, ci_high=interval.ci_high)


def _draw_panel(
    axis: Axes,
    trials: Sequence[Aggregate],
    name: str,
    space: Space,
    chosen: Any,
    style: Mapping[str, Any],
    *,
    alone: bool,
) -> None:
    trials = [trial for trial in trials if name in trial.params]
    tried = [a.params[name] for a in trials]  # the default as well, which may lie outside the space
    scale = natural_scale([*space.choices, *tried], log=space.kind.startswith("log") or None)
    positions = lay_out(axis, [*space.choices, *tried], scale, marked=bool(space.choices))
    curve = alone and scale.kind != "order" and len(set(tried)) >= CURVE_FROM
    if curve:
        _draw_curve(axis, {positions[trial.params[name]]: trial for trial in trials}, style)
    _draw_trials(axis, [(positions[trial.params[name]], trial) for trial in trials], style, intervals=not curve)
    _draw_rings(axis, [(positions[trial.params[name]], trial) for trial in trials if trial.params == chosen], style)
    means = [scaled(a.metric, a.mean) for a in trials if a.mean is not None]
    halves = [scaled(a.metric, a.ci_high - a.mean) for a in trials if a.mean is not None and a.ci_high is not None]
    margin = max(_MARGIN * (max(means) - min(means)), median(halves) if halves else 0.0) or 1.0
    axis.set_ylim(min(means) - 1.1 * margin, max(means) + 1.1 * margin)


def _draw_curve(axis: Axes, trials: Mapping[float, Aggregate], style: Mapping[str, Any]) -> None:
    """Lines through the means, and the band of their intervals."""
    known = [(x, scaled(a.metric, a.mean)) for x, a in sorted(trials.items()) if a.mean is not None]
    axis.plot(*zip(*known, strict=True), color=style["color"], linewidth=1.2)
    bounded = [(x, a) for x, a in sorted(trials.items()) if a.ci_low is not None]
    low, high = ([scaled(a.metric, getattr(a, end)) for _, a in bounded] for end in ("ci_low", "ci_high"))
    axis.fill_between([x for x, _ in bounded], low, high, color=style["color"], alpha=0.18, linewidth=0)


_Placed = Sequence[tuple[float, Aggregate]]  # a trial, and where it stands


def _draw_trials(axis: Axes, trials: _Placed, style: Mapping[str, Any], *, intervals: bool) -> None:
    """A dot each, all in one drawing, as there may be hundreds; and its interval."""
    known = [(x, scaled(a.metric, a.mean)) for x, a in trials if a.mean is not None]
    axis.plot(*zip(*known, strict=True), linestyle="none", markersize=5, color=style["color"], marker=style["marker"])
    bounded = [
        (x, scaled(a.metric, a.ci_low), scaled(a.metric, a.ci_high))
        for x, a in trials
        if a.ci_low is not None and a.ci_high is not None
    ]
    if intervals and bounded:
        axis.vlines(*zip(*bounded, strict=True), color=style["color"], linewidth=1, alpha=0.6)


def _draw_rings(axis: Axes, trials: _Placed, style: Mapping[str, Any]) -> None:
    for x, trial in trials:
        if trial.mean is not None:
            mean = scaled(trial.metric, trial.mean)
            axis.plot([x], [mean], marker="o", markersize=12, markerfacecolor="none", color=style["color"])


def _chosen_params(report: Report, arm: str, point: Point) -> Any:
    return next((c.params for c in report.chosen if c.arm == arm and c.point == point), None)


def _tried(report: Report, arm: str, trials: Sequence[Aggregate]) -> dict[str, Space]:
    """What the arm's trials search by its name in their `params`: a loss's hyperparameters are bare there."""
    spaces = {path.removeprefix("loss."): space for path, space in report.study.arms[arm].searched.items()}
    known = {name for trial in trials if trial.arm == arm for name in trial.params}
    return {name: space for name, space in spaces.items() if name in known}
