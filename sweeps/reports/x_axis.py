"""The x axis of a figure: where values lie on it, and ticks whose labels can be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports.wording import setting
from setsweep.sweeps.statistics.sensitivity.scale import Scale, scale_of

LOG_FROM = 16  # ratio of the largest to the smallest value from which an axis is logarithmic
MARKED = 9  # values that are marked one by one, at most
_ROUND = (1, 2, 5)  # of a decade, marked where there are few decades
_FEW_DECADES = 2.5
_MOST_DECADES = 6  # marked, at most
_LETTER = 0.65  # width of a letter of its height
_POINTS = 72  # to an inch
_INSIDE = 0.85  # of the width that a panel has before labels and a legend take theirs


def is_number(value: Any) -> bool:
    """Whether it is an int or a float; True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def natural_scale(values: Sequence[Any], *, log: bool | None = None) -> Scale:
    """The scale on which values are easy to tell apart.

    Args:
        values: at least one. If any is not a number ("full"), all are evenly spaced in the order given.
        log: whether numbers stand on a logarithmic axis, 0 having a place beside them; None: where they spread widely.
    """
    distinct = list(dict.fromkeys(values))
    if not all(map(is_number, distinct)):
        return Scale(kind="order", values=(*distinct, *([""] if len(distinct) == 1 else [])))
    positive = [value for value in distinct if value > 0]
    if min(distinct) < 0 or len(positive) < 2:
        log = False
    elif log is None:
        log = max(positive) / min(positive) >= LOG_FROM
    return scale_of(distinct if len(distinct) > 1 else [*distinct, distinct[0] + 1], log=log)


def lay_out(
    axis: Axes, values: Sequence[Any], scale: Scale, *, marked: bool = True, size: float = 10
) -> Mapping[Any, float]:
    """Sets the scale and its ticks; gives where each of the values lies.

    Of labels that would overlap some are left out; names are turned.

    Args:
        axis: a panel of a figure.
        values: what is drawn.
        scale: that they lie on.
        marked: whether few values are marked one by one; many are by round ones, in any case.
        size: of the labels, in points.
    """
    axis.tick_params(axis="x", labelsize=size)
    if scale.kind == "order":
        names = [setting(value) for value in scale.values]
        axis.set_xticks(range(len(names)), names)
        if sum(_inches(name, size) for name in names) > _width(axis):
            axis.tick_params(axis="x", labelrotation=25)
        return {value: float(rank) for rank, value in enumerate(scale.values)}
    if scale.kind == "symlog":
        axis.set_xscale("symlog", linthresh=scale.threshold, linscale=1.0)
    else:
        axis.set_xscale(scale.kind)
    marks = sorted({float(value) for value in values})
    marked = marked and len(marks) <= MARKED
    if marked or scale.kind != "linear":  # matplotlib's own ticks of a logarithmic axis overlap where it is short
        shown = marks if marked else round_values(scale)
        first = [shown[0], shown[-1]] if marked else list(filter(_is_decade, shown))
        axis.set_xticks(shown, _labels(axis, shown, first, scale, size))
        axis.minorticks_off()
    return {value: float(value) for value in values}


def round_values(scale: Scale) -> list[float]:
    """Decades within a logarithmic scale, 1, 2 and 5 of each where there are few; 0 where it has a place for that."""
    low = scale.threshold if scale.kind == "symlog" else scale.low
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(scale.high))
    of_decade = _ROUND if math.log10(scale.high / low) < _FEW_DECADES else (1,)
    step = math.ceil((last - first) / _MOST_DECADES)
    found = [each * 10.0**decade for decade in range(first, last + 1, max(step, 1)) for each in of_decade]
    inside = [value for value in found if low / 1.001 <= value <= scale.high * 1.001]
    return [*([0.0] if scale.kind == "symlog" else []), *(inside if len(inside) > 1 else [low, scale.high])]


def _labels(axis: Axes, marks: Sequence[float], first: Sequence[float], scale: Scale, size: float) -> list[str]:
    """Of each mark, those that are `first` before the others; empty where it would overlap another one."""
    low, high = scale.position(marks[0]), scale.position(marks[-1])
    places = [(scale.position(mark) - low) / ((high - low) or 1.0) * _width(axis) for mark in marks]
    texts = [f"{mark:g}" if mark == int(mark) else f"{mark:.3g}" for mark in marks]
    named: list[int] = []
    for index in dict.fromkeys([*map(marks.index, first), *range(len(marks))]):
        room = [
            abs(places[index] - places[other]) - (_inches(texts[index], size) + _inches(texts[other], size)) / 2
            for other in named
        ]
        if all(each > _inches(" ", size) for each in room):
            named.append(index)
    return [text if index in named else "" for index, text in enumerate(texts)]


def _is_decade(value: float) -> bool:
    return value > 0 and math.log10(value) == round(math.log10(value))


def _inches(text: str, size: float) -> float:
    return _LETTER * size * len(text) / _POINTS


def _width(axis: Axes) -> float:
    """About how wide the panel will be, in inches."""
    figure = axis.get_figure()
    assert figure is not None
    return _INSIDE * axis.get_window_extent().width / figure.dpi
