"""The curve of a hyperparameter: mean, two bands, the seeds' dots, the plateau, default and choice, the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from setsweep.sweeps.reports.sensitivity.found import Findings, OneHyperparameter
from setsweep.sweeps.reports.sensitivity.panels.axis import lay_out, mark
from setsweep.sweeps.reports.sensitivity.tried import along
from setsweep.sweeps.reports.sensitivity.words import means_over
from setsweep.sweeps.reports.wording import long_metric_label
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.sensitivity.block import Floats

_GREY = "#777777"
_ROOM = 0.6  # of the range of the dots: how far beyond them a band may be seen


def draw_curve(
    axis: Axes, findings: Findings, number: int, style: Mapping[str, Any], baseline: Aggregate | None
) -> None:
    """Light: the interval of each value by itself; outlined: the band of the whole curve."""
    one = findings.along[number]
    assert one.curve is not None
    place = lay_out(axis, one.dimension)
    x = [place[value] for value in one.dimension.values]
    _dots(axis, findings, number, place)
    axis.fill_between(
        x,
        _percent(one.curve.pointwise.low),
        _percent(one.curve.pointwise.high),
        color=style["color"],
        alpha=0.18,
        linewidth=0,
        label="each value by itself",
    )
    for ends, label in ((one.curve.whole.low, "whole curve"), (one.curve.whole.high, None)):
        there = np.isfinite(_percent(ends))
        axis.plot(
            np.array(x)[there], _percent(ends)[there], color=style["color"], linewidth=0.9, linestyle="-.", label=label
        )
    axis.plot(x, _percent(one.curve.mean), color=style["color"], marker=style["marker"], markersize=4, linewidth=1.5)
    _plateau(axis, one, place, style)
    mark(axis, one.dimension, place)
    _baseline(axis, baseline)
    _limits(axis, findings, baseline)
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axis.set_ylabel(long_metric_label(findings.tried.metric), fontsize=8)
    axis.set_title(f"{one.dimension.name}{means_over(findings.tried, one.over)}")


def _percent(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else 100 * value for value in values])


def _dots(axis: Axes, findings: Findings, number: int, place: Mapping[Any, float]) -> None:
    """A dot for each seed; of a grid of two the mean over the other hyperparameter."""
    scores, _ = along(findings.tried, number)
    for value, row in zip(findings.tried.dimensions[number].values, scores, strict=True):
        known = row[np.isfinite(row)]
        axis.plot([place[value]] * len(known), 100 * known, ".", color=_GREY, markersize=3, alpha=0.7, label="seeds")


def _plateau(axis: Axes, one: OneHyperparameter, place: Mapping[Any, float], style: Mapping[str, Any]) -> None:
    """A bar along the bottom, with a dot where it is one value alone."""
    if one.plateau is None:
        return
    ends = [place[one.plateau.low], place[one.plateau.high]]
    axis.plot(
        ends,
        [0.02, 0.02],
        transform=axis.get_xaxis_transform(),
        color=style["color"],
        linewidth=5,
        solid_capstyle="butt",
        marker="|",
        markersize=8,
        alpha=0.55,
        label="not told from the best",
    )


def _baseline(axis: Axes, baseline: Aggregate | None) -> None:
    if baseline is None or baseline.mean is None:
        return
    axis.axhline(100 * baseline.mean, color=_GREY, linewidth=1, label=f"{baseline.arm} (baseline)", zorder=0)
    if baseline.ci_low is not None and baseline.ci_high is not None:
        axis.axhspan(100 * baseline.ci_low, 100 * baseline.ci_high, color=_GREY, alpha=0.15, linewidth=0, zorder=0)


def _limits(axis: Axes, findings: Findings, baseline: Aggregate | None) -> None:
    """Room for all dots; bands of few seeds may run out of it."""
    scores = np.concatenate([along(findings.tried, number)[0].ravel() for number in range(len(findings.along))])
    known = 100 * scores[np.isfinite(scores)]
    if baseline is not None and baseline.mean is not None:
        known = np.append(known, 100 * baseline.mean)
    if not known.size:
        return
    room = _ROOM * max(float(np.ptp(known)), 0.5)
    axis.set_ylim(max(-1.0, float(known.min()) - room), min(101.0, float(known.max()) + room))
