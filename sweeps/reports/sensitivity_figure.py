"""Sensitivity: the search's objective against each searched hyperparameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports.panels import add_title, look, panels, save, scale_x
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.wording import long_metric_label, scaled, settings
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Point

_MARGIN = 0.15  # of the range of the means, at least, above and below them


def draw_sensitivity(report: Report, point: Point, path: Path) -> Path | None:
    """A panel per arm and searched hyperparameter at one grid point; a dot with its interval per trial.

    The intervals share the variance of all trials, as a few seeds of one say little of it. The y axis has room for
    those of median width, and others may run out of it. The chosen configuration is ringed.
    """
    search = report.study.search
    if search is None:
        return None
    trials = [a for a in report.aggregates if a.stage == "search" and a.metric == search.objective]
    trials = [_pooled(report, a) for a in trials if a.point == point and a.mean is not None]
    spaces = [(arm, name, space) for arm in report.study.arms for name, space in _spaces(report, arm).items()]
    shown = [s for s in spaces if any(a.arm == s[0] and s[1] in a.params for a in trials)]
    if not shown:
        return None
    figure, axes = panels(len(shown), columns=3, width=3.8, height=3.0)
    for axis, (arm, name, space) in zip(axes, shown, strict=True):
        own = [a for a in trials if a.arm == arm and name in a.params]
        _draw_panel(
            axis, own, name, space, _chosen_params(report, arm, point), look(list(report.study.arms).index(arm))
        )
        axis.set_title(arm, fontsize=10)
        axis.set_xlabel(name)
        axis.set_ylabel(long_metric_label(search.objective))
    percent = f"{100 * report.study.compare.confidence:g} %"
    seeds = f"{len(search.seeds)} {'seed' if len(search.seeds) == 1 else 'seeds'}"
    over = f"{percent} intervals over {seeds}, variance of all trials"
    parts = [report.study.name, settings(point), "sensitivity (ring: chosen)", over]
    add_title(figure, parts)
    return save(figure, path)


def _pooled(report: Report, trial: Aggregate) -> Aggregate:
    interval = report.search_intervals[trial.candidate]
    return replace(trial, ci_low=interval.ci_low, ci_high=interval.ci_high)


def _draw_panel(
    axis: Axes, trials: Sequence[Aggregate], name: str, space: Space, chosen: Any, style: Mapping[str, Any]
) -> None:
    tried = [a.params[name] for a in trials]  # the default as well, which may lie outside the space
    candidates = list(dict.fromkeys([*space.choices, *tried]))
    positions = scale_x(axis, candidates, log=space.kind.startswith("log") or None)
    for trial in trials:
        _draw_trial(axis, positions[trial.params[name]], trial, style, ring=trial.params == chosen)
    means = [scaled(a.metric, a.mean) for a in trials if a.mean is not None]
    halves = [scaled(a.metric, a.ci_high - a.mean) for a in trials if a.mean is not None and a.ci_high is not None]
    margin = max(_MARGIN * (max(means) - min(means)), median(halves) if halves else 0.0) or 1.0
    axis.set_ylim(min(means) - 1.1 * margin, max(means) + 1.1 * margin)


def _draw_trial(axis: Axes, x: float, trial: Aggregate, style: Mapping[str, Any], *, ring: bool) -> None:
    if trial.mean is None:
        return
    mean = scaled(trial.metric, trial.mean)
    axis.plot([x], [mean], linestyle="none", markersize=5, color=style["color"], marker=style["marker"])
    if ring:
        axis.plot([x], [mean], marker="o", markersize=12, markerfacecolor="none", color=style["color"])
    if trial.ci_low is not None and trial.ci_high is not None:
        ends = [scaled(trial.metric, trial.ci_low), scaled(trial.metric, trial.ci_high)]
        axis.plot([x, x], ends, color=style["color"], linewidth=1, alpha=0.6)


def _chosen_params(report: Report, arm: str, point: Point) -> Any:
    return next((c.params for c in report.chosen if c.arm == arm and c.point == point), None)


def _spaces(report: Report, arm: str) -> dict[str, Space]:
    """The arm's searched values by their name in a run's `params`: a loss's hyperparameters are bare there."""
    return {path.removeprefix("loss."): space for path, space in report.study.arms[arm].searched.items()}
