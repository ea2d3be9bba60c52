"""A report for a terminal: as wide as it is, plain text where the output is not one."""

from __future__ import annotations

import io
import itertools
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Table

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_PADDING = 2  # blanks after a column
_BETWEEN = _PADDING + 1  # and the blank that rich draws for a line between two columns
_BESIDE = ("p", "n")  # columns that say nothing without the one before
_FOLDED = 32  # width from which a text column may be folded


def text(report: Report, *, width: int | None = None, colour: bool | None = None) -> str:
    """The tables and sentences in `width` columns; a table that is too wide continues below with further columns.

    Args:
        report: what to show.
        width: None: that of the terminal, or 120 where there is none.
        colour: whether to use the terminal's colours and weights; None: only where the output is a terminal.
    """
    blocks: list[Table | str] = [progress(report), *all_tables(report), *notes(report)]
    return blocks_text(report.study.name, report.study.about, blocks, width=width, colour=colour)


def blocks_text(
    title: str, about: str, blocks: Sequence[Table | str], *, width: int | None = None, colour: bool | None = None
) -> str:
    """A title, and tables and sentences below it in their order; see `text`."""
    from rich.console import Console  # imported late: a study that is only planned or run must not wait for it
    from rich.text import Text

    colour = sys.stdout.isatty() if colour is None else colour
    width = width or shutil.get_terminal_size(fallback=(120, 24)).columns
    lines = io.StringIO()
    console = Console(file=lines, width=width, force_terminal=colour, highlight=False, legacy_windows=False)
    console.print(Text.assemble((title, "bold"), f": {about}" if about else ""))
    for before, block in itertools.pairwise(["", *blocks]):
        if isinstance(block, str):
            console.print(Text(block))
            continue
        if isinstance(before, str):
            console.print()
        console.print(Text(block.title, style="bold"))
        for columns in _split(block, width):
            console.print(_rich_table(block, columns))
            console.print()
    return "\n".join(line if colour else line.rstrip() for line in lines.getvalue().splitlines()) + "\n"


def _split(table: Table, width: int) -> list[list[int]]:
    """The columns of each part of the table: those that name a row in all parts, the others once.

    A "p" stands beside what it tests, and an "n" beside what it counts the runs of. Of the columns that name a row only
    the first are repeated where all of them would leave no room for the widest of the others.
    """
    widths = [min(_column_width(table, index), _FOLDED) + _BETWEEN for index in range(len(table.header))]
    steps = _inseparable(table)
    widest = max((sum(widths[index] for index in step) for step in steps), default=0)
    repeated = list(range(table.naming))
    while len(repeated) > 1 and sum(widths[index] for index in repeated) + widest - _BETWEEN > width:
        repeated.pop()
    parts = [list(range(table.naming))]
    for step in steps:
        together = sum(widths[index] for index in [*parts[-1], *step]) - _BETWEEN
        if together > width and len(parts[-1]) > len(repeated):
            parts.append([*repeated])
        parts[-1] += step
    return parts


def _inseparable(table: Table) -> list[list[int]]:
    """The columns that don't name a row, each with what follows it and says nothing alone."""
    steps: list[list[int]] = []
    for index in range(table.naming, len(table.header)):
        if table.header[index] in _BESIDE and steps:
            steps[-1].append(index)
        else:
            steps.append([index])
    return steps


def _column_width(table: Table, index: int) -> int:
    return max(len(table.header[index]), *(len(row[index].text) for row in table.rows))


def _rich_table(table: Table, columns: list[int]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, _PADDING, 0, 0))
    for index in columns:
        long = _column_width(table, index) > _FOLDED
        drawn.add_column(
            Text(table.header[index]),
            justify="left" if index in table.text else "right",
            no_wrap=not long,
            overflow="fold",
        )
    for row in table.rows:
        drawn.add_row(*(Text(row[index].text, style="bold" if row[index].strong else "") for index in columns))
    return drawn
