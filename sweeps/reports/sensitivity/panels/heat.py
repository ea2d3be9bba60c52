"""Two hyperparameters as a heat map with the plateau's outline, and the regrets over points as another."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.sensitivity.places import OverPoints
from setsweep.sweeps.reports.wording import MISSING, metric_label, setting, settings
from setsweep.sweeps.statistics.sensitivity.block import Floats

_DARK = 0.6  # of the range of colours, from which text is white


def draw_heat_map(axis: Axes, findings: Findings) -> None:
    """Mean scores; outlined: the combinations that can't be told from the best, which has a star."""
    assert findings.equal is not None
    members, best = findings.equal
    first, second = findings.tried.dimensions
    grid = findings.tried.grid()
    means = 100 * np.where(np.isfinite(grid).all(axis=2), np.nan_to_num(grid).mean(axis=2), np.nan)
    _cells(axis, means, "{:.1f}", "viridis")
    axis.set_xticks(range(len(second.values)), [setting(value) for value in second.values], fontsize=7)
    axis.set_yticks(range(len(first.values)), [setting(value) for value in first.values], fontsize=7)
    for index, own in enumerate(findings.tried.configurations):
        column, row = second.values.index(own[second.name]), first.values.index(own[first.name])
        if members[index]:
            outline = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2.2)
            axis.add_patch(outline)
        if index == best:
            axis.plot([column - 0.36], [row - 0.32], "*", color="#D55E00", markersize=9)
    axis.set_xlabel(second.name)
    axis.set_ylabel(first.name)
    axis.set_title(f"{metric_label(findings.tried.metric)}, outlined: not told from the best")


def draw_everywhere(axis: Axes, each: OverPoints) -> None:
    """Regrets of what is chosen at the row's point and used at the column's, in points."""
    matrix = each.everywhere.matrix()
    regrets = 100 * np.array([[np.nan if one is None else one.mean for one in row] for row in matrix])
    _cells(axis, regrets, "{:.2f}", "Reds")
    names = each.names
    first = each.tried[0]
    choices = [MISSING if index is None else settings(first.configurations[index]) for index in each.everywhere.chosen]
    axis.set_xticks(range(len(names)), names, fontsize=7, rotation=20, ha="right")
    rows = [f"{name}:\n{choice}" for name, choice in zip(names, choices, strict=True)]
    axis.set_yticks(range(len(names)), rows, fontsize=7)
    axis.set_xlabel("used at")
    axis.set_ylabel("chosen at")
    axis.set_title("points below the best")


def _cells(axis: Axes, values: Floats, form: str, colours: str) -> None:
    """A coloured cell with its number for each value; the scale is that of the values, of a point at least."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    high = max(high, low + 1)  # what differs by less than a point shall not look as if it mattered
    axis.imshow(values, aspect="auto", cmap=colours, interpolation="nearest", vmin=low, vmax=high)
    axis.grid(visible=False)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            share = (value - low) / (high - low)
            axis.text(
                column, row, form.format(value), ha="center", va="center", fontsize=7, color=_text(share, colours)
            )


def _text(share: float, colours: str) -> str:
    """What can be read on that colour: viridis is dark where it is low, reds where they are high."""
    dark = share < 1 - _DARK if colours == "viridis" else share > _DARK
    return "white" if dark else "black"
