"""What all figures share: panels in a grid, one look per series, a legend outside of the data."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from setsweep.sweeps.reports.colours import COLOURS, colour
from setsweep.sweeps.reports.wording import setting

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_LINES = ("-", "--", ":")
_DPI = 150
_DESCRIPTION = "Description"  # one of the keywords that the PNG standard names
_MOST_LETTERS = 60  # of the point in a file's name
LEGEND_WIDTH = 2.4  # inches
_TITLE_SIZE = 10  # points
_LETTERS_PER_INCH = 12  # of the title


def look(index: int) -> dict[str, Any]:
    """Colour, marker and line of the series with this index; no two of the first 63 are equal."""
    return {
        "color": colour(index),
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": _LINES[index // len(COLOURS) % len(_LINES)],
    }


def panels(count: int, *, columns: int, width: float, height: float, margin: float = 0) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels of `width` by `height` inches in at most `columns` columns, and a margin."""
    rows = [min(columns, count - begin) for begin in range(0, count, columns)]
    figure, axes = panel_rows(rows, width=width, height=height, margin=margin)
    return figure, [axis for row in axes for axis in row]


def panel_rows(
    counts: Sequence[int], *, width: float, height: float, margin: float = 0
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows of so many panels each, of `width` by `height` inches, and a margin."""
    columns = max(counts)
    figure = Figure(figsize=(columns * width + margin, len(counts) * height), layout="constrained", dpi=_DPI)
    rows = [
        [figure.add_subplot(len(counts), columns, row * columns + column + 1) for column in range(count)]
        for row, count in enumerate(counts)
    ]
    for axis in (axis for row in rows for axis in row):
        axis.grid(visible=True, color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, rows


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
    """Writes the PNG, whose description is the figure's title; equal figures give equal files.

    Of 256 colours, as bands of millions are no easier to read and take four times the space.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", pil_kwargs={"compress_level": 0})
    described = PngInfo()
    described.add_text(_DESCRIPTION, " ".join(figure.get_suptitle().split()))
    with Image.open(drawn) as image:
        reduced = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    reduced.save(path, format="PNG", optimize=True, pnginfo=described, dpi=(_DPI, _DPI))
    return path


def description(path: Path) -> str:
    """What a PNG file says it shows; its name, where it says nothing."""
    with Image.open(path) as image:
        return str(image.info.get(_DESCRIPTION) or path.stem.replace("-", " "))
