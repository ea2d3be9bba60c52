"""Parallel coordinates: a line a configuration through all its values, the better the darker."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.wording import metric_label, setting


def draw_parallel(axis: Axes, findings: Findings) -> None:
    """Each hyperparameter on its declared scale from the bottom to the top, the score last."""
    tried = findings.tried
    known = np.isfinite(tried.scores).any(axis=1)
    if not known.any():
        return
    means = np.nanmean(tried.scores[known], axis=1)
    share = (means - means.min()) / (float(np.ptp(means)) or 1.0)
    lines = np.column_stack([np.clip(tried.positions[known], 0, 1), share])
    colours = colormaps["viridis_r"]
    for line, own in sorted(zip(lines.tolist(), share.tolist(), strict=True), key=lambda pair: pair[1]):
        axis.plot(range(len(line)), line, color=colours(own), linewidth=0.8, alpha=0.8)
    names = [each.name for each in tried.dimensions]
    axis.set_xticks(range(len(names) + 1), [*names, metric_label(tried.metric)], fontsize=7, rotation=12)
    for place, each in enumerate(tried.dimensions):
        low, high = (
            (each.scale.values[0], each.scale.values[-1]) if each.scale.values else (each.scale.low, each.scale.high)
        )
        axis.axvline(place, color="#bbbbbb", linewidth=0.8)
        axis.text(place, -0.06, setting(low), ha="center", va="top", fontsize=6)
        axis.text(place, 1.03, setting(high), ha="center", va="bottom", fontsize=6)
    axis.axvline(len(names), color="#bbbbbb", linewidth=0.8)
    axis.text(len(names), -0.06, f"{100 * means.min():.1f}", ha="center", va="top", fontsize=6)
    axis.text(len(names), 1.03, f"{100 * means.max():.1f}", ha="center", va="bottom", fontsize=6)
    axis.set_ylim(-0.15, 1.12)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_title("all values of a trial, dark: best")
