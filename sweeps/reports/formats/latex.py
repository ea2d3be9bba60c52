"""A report for LaTeX: a table environment a table."""

from __future__ import annotations

from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Table

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
    """A table environment (booktabs) per table, with the sentences as a paragraph after them."""
    parts = ["% needs \\usepackage{booktabs}", *map(_latex_table, all_tables(report))]
    return "\n\n".join([*parts, *(escape_latex(note) for note in [progress(report), *notes(report)])]) + "\n"


def escape_latex(plain: str) -> str:
    """The text with every character that LaTeX gives a meaning, or may lack, replaced."""
    return "".join(_LATEX.get(character, character) for character in plain)


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
