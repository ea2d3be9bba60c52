"""A report as text: for a terminal, as Markdown, LaTeX or HTML, and as data in JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable

from setsweep.sweeps.reports.formats.data import csv_text, json_text
from setsweep.sweeps.reports.formats.html import html
from setsweep.sweeps.reports.formats.terminal import terminal
from setsweep.sweeps.reports.notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables import Table, all_tables

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


def render(report: Report, form: str) -> str:
    """The report in one of the formats "terminal", "markdown", "json", "csv", "latex" and "html".

    Equal results give equal text; that for a terminal depends on the terminal's width as well.

    Raises:
        ValueError: an unknown format.
    """
    if form not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {form!r}.")
    return FORMATS[form](report)


def markdown(report: Report) -> str:
    """Headings, pipe tables and sentences, as GitHub and MLflow show them."""
    about = [report.study.about] if report.study.about else []
    parts = [f"# {_pipe(report.study.name)}", *about, progress(report)]
    for table in all_tables(report):
        parts += [f"## {_pipe(table.title)}", _markdown_table(table)]
    return "\n\n".join([*parts, *map(_stars, notes(report))]) + "\n"


def latex(report: Report) -> str:
    """A table environment (booktabs) per table, with the sentences as a paragraph after them."""
    parts = ["% needs \\usepackage{booktabs}", *map(_latex_table, all_tables(report))]
    return "\n\n".join([*parts, *(escape_latex(note) for note in [progress(report), *notes(report)])]) + "\n"


def escape_latex(text: str) -> str:
    """The text with every character that LaTeX gives a meaning, or may lack, replaced."""
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown_table(table: Table) -> str:
    rule = ["---" if index in table.text else "---:" for index in range(len(table.header))]
    body = [[f"**{_stars(_pipe(c.text))}**" if c.strong else _stars(_pipe(c.text)) for c in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[_pipe(name) for name in table.header], rule, *body])


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


def _stars(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def _latex_table(table: Table) -> str:
    columns = "".join("l" if index in table.text else "r" for index in range(len(table.header)))
    body = [
        [f"\\textbf{{{escape_latex(c.text)}}}" if c.strong else escape_latex(c.text) for c in row] for row in table.rows
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(table.title)}}}",
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


FORMATS: dict[str, Callable[[Report], str]] = {
    "terminal": terminal,
    "markdown": markdown,
    "json": json_text,
    "csv": csv_text,
    "latex": latex,
    "html": html,
}
