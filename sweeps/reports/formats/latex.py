"""A report for LaTeX: a table environment a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Cell, Table

WIDTH = 90  # letters in a line of a page at ten points
_GAP = 2  # between columns

_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "…": r"\dots{}",
}


def text(report: Report) -> str:
    """A table environment (booktabs) per table, with the sentences as a paragraph after them.

    Captions say the study and, as the titles do, the point of the grid; labels are ``tab:STUDY:TITLE``. A table that is
    too wide for a page becomes several, each with what names the rows and some of the other columns, mostly metrics.
    """
    pieces = [piece for table in all_tables(report) for piece in split(table)]
    labels = _labels([table.title for table in pieces], report.study.name)
    tables = [_latex_table(table, report.study.name, label) for table, label in zip(pieces, labels, strict=True)]
    parts = ["% needs \\usepackage{booktabs}", *tables]
    return "\n\n".join([*parts, *(escape_latex(note) for note in [progress(report), *notes(report)])]) + "\n"


def escape_latex(plain: str) -> str:
    """The text with every character that LaTeX gives a meaning, or may lack, replaced."""
    return "".join(_LATEX.get(character, character) for character in plain)


def split(table: Table) -> list[Table]:
    """The table as tables that fit on a page, all with the columns that name its rows: those of text that come first.

    A column that is wider than a page is in a table by itself.
    """
    widths = [_GAP + max(len(row[index].text) for row in (_header(table), *table.rows)) for index in _columns(table)]
    names = [index for index in _columns(table) if all(each in table.text for each in range(index + 1))] or [0]
    room = WIDTH - sum(widths[index] for index in names)
    parts: list[list[int]] = [[]]
    for index in range(len(names), len(widths)):
        if parts[-1] and sum(widths[each] for each in (*parts[-1], index)) > room:
            parts.append([])
        parts[-1].append(index)
    if len(parts) == 1:
        return [table]
    return [
        _with_columns(table, [*names, *part], f" ({number} of {len(parts)})") for number, part in enumerate(parts, 1)
    ]


def _columns(table: Table) -> range:
    return range(len(table.header))


def _header(table: Table) -> tuple[Cell, ...]:
    return tuple(map(Cell, table.header))


def _with_columns(table: Table, columns: Sequence[int], which: str) -> Table:
    return replace(
        table,
        title=table.title + which,
        header=tuple(table.header[index] for index in columns),
        rows=tuple(tuple(row[index] for index in columns) for row in table.rows),
        text=tuple(place for place, index in enumerate(columns) if index in table.text),
    )


def _labels(titles: Sequence[str], study: str) -> list[str]:
    """A label for each title, in letters that every LaTeX takes; no two are equal."""
    slugs = [re.sub(r"[^a-z0-9.=]+", "-", title.lower()).strip("-") for title in titles]
    found: list[str] = []
    for index, slug in enumerate(slugs):
        again = slugs[:index].count(slug)
        found.append(f"tab:{study.replace('_', '-')}:{slug}" + (f"-{again + 1}" if again else ""))
    return found


def _latex_table(table: Table, study: str, label: str) -> str:
    columns = "".join("l" if index in table.text else "r" for index in range(len(table.header)))
    body = [
        [f"\\textbf{{{escape_latex(c.text)}}}" if c.strong else escape_latex(c.text) for c in row] for row in table.rows
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(f'{study}: {table.title}')}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(escape_latex, table.header)) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in body),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )
