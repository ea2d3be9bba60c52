"""What all figures share: panels in a grid, one look per series, a legend outside of the data."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.colours import COLOURS, colour
from setsweep.sweeps.reports.wording import setting

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_LINES = ("-", "--", ":")
_DPI = 150
_MOST_LETTERS = 60  # of the point in a file's name
LEGEND_WIDTH = 2.4  # inches
_TITLE_SIZE = 10  # points
_LETTERS_PER_INCH = 12  # of the title
_LOG_FROM = 16  # ratio of the largest to the smallest value from which an axis is logarithmic


def look(index: int) -> dict[str, Any]:
    """Colour, marker and line of the series with this index; no two of the first 63 are equal."""
    return {
        "color": colour(index),
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": _LINES[index // len(COLOURS) % len(_LINES)],
    }


def panels(count: int, *, columns: int, width: float, height: float, margin: float = 0) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels of `width` by `height` inches in at most `columns` columns, and a margin."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(columns * width + margin, rows * height), layout="constrained", dpi=_DPI)
    axes = [figure.add_subplot(rows, columns, index + 1) for index in range(count)]
    for axis in axes:
        axis.grid(visible=True, color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def add_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend right of all panels, with each label once."""
    entries: dict[str, Artist] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside right center", frameon=False)


def add_title(figure: Figure, parts: Sequence[str]) -> None:
    """The parts that are not empty, joined with commas over the panels, in as many lines as they need."""
    title = ", ".join(part for part in parts if part)
    figure.suptitle(textwrap.fill(title, int(_LETTERS_PER_INCH * figure.get_figwidth())), fontsize=_TITLE_SIZE)


def names_width(names: Sequence[str]) -> float:
    """The inches that the names of rows take."""
    return max(map(len, names)) / _LETTERS_PER_INCH


def name_rows(axes: Sequence[Axes], columns: int, names: Sequence[str]) -> None:
    """Names the rows of each panel, from the top; the names are written in the first column of panels alone."""
    for index, axis in enumerate(axes):
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.tick_params(axis="y", labelleft=index % columns == 0)


def scale_x(axis: Axes, values: Sequence[Any], *, log: bool | None = None) -> Mapping[Any, float]:
    """The positions of `values` on the x axis, whose ticks and scale are set to fit.

    Numbers lie where they are, on a logarithmic axis if `log`, or if it is None and they spread widely. If any value
    is not a number ("full"), all are evenly spaced in the order given.
    """
    if not all(is_number(value) for value in values):
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        return {value: float(position) for position, value in enumerate(values)}
    if log is None:
        log = min(values) > 0 and max(values) / min(values) >= _LOG_FROM
    if log:
        axis.set_xscale("log")
    return {value: float(value) for value in values}


def mark_x(axis: Axes, values: Sequence[Any]) -> None:
    """Ticks at the few values of a grid, whatever the scale."""
    if all(is_number(value) for value in values) and len(values) <= 8:
        axis.set_xticks([float(value) for value in values], [f"{value:g}" for value in values])
        axis.minorticks_off()


def is_number(value: Any) -> bool:
    """Whether it is an int or a float; True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def file_name(kind: str, number: int, point: Mapping[str, Any]) -> str:
    """What a figure's file is called: ``differences-2-label_noise-0.2.png``, of what it shows and where.

    Args:
        kind: what it shows.
        number: of the point, which tells figures apart whose names would else be cut alike.
        point: of the grid, by path; the last parts of the paths are shown.
    """
    parts = ((path.rpartition(".")[2], setting(value)) for path, value in point.items())
    words = "-".join(f"{name}-{value}" for name, value in parts)
    where = re.sub(r"[^A-Za-z0-9_.]+", "-", words).strip("-.")[:_MOST_LETTERS]
    return f"{kind}-{number}{f'-{where}' if where else ''}.png"


def save(figure: Figure, path: Path) -> Path:
    """Writes the PNG, without the metadata that would make equal figures differ."""
    figure.savefig(path, metadata={"Software": None})
    return path
