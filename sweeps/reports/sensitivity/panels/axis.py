"""The x axis of a hyperparameter: linear, logarithmic, symlog where 0 is among logarithmic values, or names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports import x_axis
from setsweep.sweeps.reports.sensitivity.dimension import Dimension

_LABELS = 7  # points


def lay_out(axis: Axes, dimension: Dimension) -> Mapping[Any, float]:
    """Set the scale and the ticks; gives where each value, the default and the chosen one lie."""
    scale = dimension.scale
    axis.set_xlabel(dimension.name)
    places = x_axis.lay_out(axis, dimension.values, scale, size=_LABELS)
    if scale.kind == "order":
        return places
    marks = [value for value in (dimension.default, dimension.chosen) if _has_place(value, scale.kind)]
    return {**places, **{value: float(value) for value in marks}}


def _has_place(value: Any, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0 if kind == "log" else value >= 0 if kind == "symlog" else True


def mark(axis: Axes, dimension: Dimension, place: Mapping[Any, float]) -> None:
    """Lines at the default and at what was chosen."""
    for value, line, name in ((dimension.default, ":", "default"), (dimension.chosen, "--", "chosen")):
        if value in place:
            axis.axvline(place[value], color="#333333", linestyle=line, linewidth=1.1, label=name, zorder=1)
