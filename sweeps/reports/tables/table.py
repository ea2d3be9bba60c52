"""A table before any format: cells of text."""

from __future__ import annotations

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A text and whether it stands out (the best of its column, or what cannot be told from it)."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A title, column headings, and rows of as many cells; the first columns name the row.

    Args:
        text: indices of the columns that hold text, to be aligned left; the others hold numbers.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    text: tuple[int, ...] = (0,)

    @property
    def naming(self) -> int:
        """How many columns name a row: those with text before the first number, at least one."""
        numbers = (index for index in itertools.count() if index not in self.text)
        return min(max(1, next(numbers)), len(self.header))
