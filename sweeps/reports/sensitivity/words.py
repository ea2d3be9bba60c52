"""Words that all parts of a sensitivity report share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.reports.sensitivity.tried import Tried
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import MISSING, setting, settings

Block = Table | str


def percent(confidence: float) -> str:
    """A confidence as it is read: "95 %"."""
    return f"{100 * confidence:g} %"


def place(tried: Tried) -> str:
    """The arm, and the point where there is a grid: "avgk, data.label_noise = 0.2"."""
    return ", ".join(part for part in (tried.arm, settings(tried.point)) if part)


def points(value: float | None, *, signed: bool = False) -> str:
    """A share of examples in points, with two decimals."""
    return MISSING if value is None else f"{100 * value:{'+' if signed else ''}.2f}"


def between(low: float | None, high: float | None) -> str:
    """Two ends in points: "51.20 to 52.80"."""
    return MISSING if low is None or high is None else f"{points(low)} to {points(high)}"


def means_over(tried: Tried, over: Mapping[str, tuple[Any, ...]]) -> str:
    """What stands behind the name of a hyperparameter, ", mean over alpha"; with values where some are left out."""
    all_ = {each.name: each.values for each in tried.dimensions}
    parts = [
        name if values == all_[name] else f"{name} {', '.join(map(setting, values))}" for name, values in over.items()
    ]
    return f", mean over {' and '.join(parts)}" if parts else ""


def p_text(p: float | None) -> str:
    """A p-value in a sentence: "p = 0.032", "p < 0.001"."""
    if p is None:
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def row(*texts: str, strong: bool = False) -> tuple[Cell, ...]:
    """Cells of one row, the first of which may stand out."""
    return tuple(Cell(text, strong and index == 0) for index, text in enumerate(texts))
