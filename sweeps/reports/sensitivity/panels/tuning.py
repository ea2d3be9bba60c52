"""The tuning curve of a search at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from setsweep.sweeps.reports.sensitivity.sensitivity import Tuning


def draw_tuning(axis: Axes, each: Tuning, style: Mapping[str, Any]) -> None:
    """The median best of k trials with its band for all k at once; beyond the dotted line the band has no end."""
    curve = each.curve
    assert curve is not None
    k = np.array(curve.k)
    low, high, centre = (100 * np.array(values) for values in (curve.low, curve.high, curve.centre))
    axis.fill_between(
        k, low, high, step="mid", color=style["color"], alpha=0.18, linewidth=0, label="for all k at once"
    )
    axis.plot(k, centre, color=style["color"], linewidth=1.5)
    if curve.finite < len(k):
        axis.axvline(
            curve.finite + 0.5, color="#777777", linestyle=(0, (1, 2)), linewidth=1.2, label="no upper end beyond"
        )
    spread = max(float(centre.max() - low.min()), 0.5)
    axis.set_ylim(max(-1.0, float(low.min()) - 0.05 * spread), min(101.0, float(centre.max()) + 0.6 * spread))
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    axis.set_xlabel("trials k")
    axis.set_ylabel("best of k, median (%)", fontsize=8)
    axis.set_title("tuning curve")
