"""A report as Markdown: for GitHub and MLflow."""

from __future__ import annotations

from setsweep.sweeps.reports.notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables import Table, all_tables


def text(report: Report) -> str:
    """Headings, pipe tables and sentences, as GitHub and MLflow show them."""
    about = [report.study.about] if report.study.about else []
    parts = [f"# {_pipe(report.study.name)}", *about, progress(report)]
    for table in all_tables(report):
        parts += [f"## {_pipe(table.title)}", _markdown_table(table)]
    return "\n\n".join([*parts, *map(_stars, notes(report))]) + "\n"


def _markdown_table(table: Table) -> str:
    rule = ["---" if index in table.text else "---:" for index in range(len(table.header))]
    body = [[f"**{_stars(_pipe(c.text))}**" if c.strong else _stars(_pipe(c.text)) for c in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[_pipe(name) for name in table.header], rule, *body])


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


def _stars(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")
