"""Points that are no grid: slices of what was tried, and failures over a hyperparameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.sensitivity.panels.axis import lay_out, mark
from setsweep.sweeps.reports.wording import long_metric_label


def draw_slice(axis: Axes, findings: Findings, number: int, style: Mapping[str, Any]) -> None:
    """A dot a configuration, its mean over seeds against one of its values; crosses: failed."""
    tried, one = findings.tried, findings.along[number].dimension
    place = lay_out(axis, one)
    x = np.array([place[own[one.name]] for own in tried.configurations])
    known = np.isfinite(tried.scores)
    counts = known.sum(axis=1)
    means = 100 * np.where(known, tried.scores, 0).sum(axis=1) / np.maximum(counts, 1)
    axis.plot(x[counts > 0], means[counts > 0], style["marker"], color=style["color"], markersize=4, alpha=0.75)
    failing = np.nansum(tried.failed, axis=1) > 0
    if failing.any():
        low = [0.03] * int(failing.sum())
        axis.plot(x[failing], low, "x", color="#D55E00", transform=axis.get_xaxis_transform(), label="a run failed")
    mark(axis, one, place)
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axis.set_ylabel(long_metric_label(tried.metric), fontsize=8)
    axis.set_title(f"{one.name}, all else differs" if len(findings.along) > 1 else one.name)


def draw_failures(axis: Axes, findings: Findings, number: int, style: Mapping[str, Any]) -> None:
    """Failure rates over a hyperparameter with their intervals, and the cliff where there is one."""
    one = findings.along[number]
    place = lay_out(axis, one.dimension)
    values = [place[own[one.dimension.name]] for own in findings.tried.configurations]
    for rate in one.rates:
        ends = [values[rate.first], values[rate.last]]
        middle = _middle(axis, ends)
        axis.plot(ends, [100 * rate.rate] * 2, color=style["color"], linewidth=2.5)
        axis.plot([middle, middle], [100 * rate.low, 100 * rate.high], color=style["color"], linewidth=1)
        axis.plot([middle], [100 * rate.rate], style["marker"], color=style["color"], markersize=4)
    if one.cliff is not None:
        label = f"cliff (p = {one.cliff.p:.3f})"
        axis.axvspan(values[one.cliff.below], values[one.cliff.above], color="#D55E00", alpha=0.15, label=label)
    axis.set_ylim(-3, 103)
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axis.set_ylabel("runs that fail (%)", fontsize=8)
    axis.set_title(f"failures over {one.dimension.name}")


def _middle(axis: Axes, ends: Sequence[float]) -> float:
    """As far from one end as from the other, as they are drawn."""
    scale = axis.xaxis.get_transform()
    return float(scale.inverted().transform(scale.transform(np.array(ends)).mean(keepdims=True))[0])
