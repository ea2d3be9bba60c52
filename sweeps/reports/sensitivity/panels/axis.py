"""The x axis of a hyperparameter: linear, logarithmic, symlog where 0 is among logarithmic values, or names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, NullLocator

from setsweep.sweeps.reports.sensitivity.dimension import Dimension

_MOST_TICKS = 9


def lay_out(axis: Axes, dimension: Dimension) -> Mapping[Any, float]:
    """Set the scale and the ticks; gives where each value, the default and the chosen one lie."""
    scale, values = dimension.scale, list(dimension.values)
    axis.set_xlabel(dimension.name)
    if scale.kind == "order":
        axis.set_xticks(range(len(scale.values)), [str(value) for value in scale.values])
        return {value: float(place) for place, value in enumerate(scale.values)}
    if scale.kind == "symlog":
        axis.set_xscale("symlog", linthresh=scale.threshold, linscale=1.0)
    elif scale.kind == "log":
        axis.set_xscale("log")
    if len(values) <= _MOST_TICKS:
        axis.set_xticks([float(value) for value in values], [f"{value:.3g}" for value in values])
        axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="x", labelsize=7)
    marks = [value for value in (dimension.default, dimension.chosen) if _has_place(value, scale.kind)]
    return {value: float(value) for value in [*values, *marks]}


def _has_place(value: Any, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0 if kind == "log" else value >= 0 if kind == "symlog" else True


def mark(axis: Axes, dimension: Dimension, place: Mapping[Any, float]) -> None:
    """Lines at the default and at what was chosen."""
    for value, line, name in ((dimension.default, ":", "default"), (dimension.chosen, "--", "chosen")):
        if value in place:
            axis.axvline(place[value], color="#333333", linestyle=line, linewidth=1.1, label=name, zorder=1)
