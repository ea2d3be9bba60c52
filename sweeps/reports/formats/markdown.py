"""A report as Markdown: for GitHub and MLflow."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Table


def text(report: Report) -> str:
    """Headings, pipe tables and sentences, as GitHub and MLflow show them."""
    return blocks_text(report.study.name, report.study.about, [progress(report), *all_tables(report), *notes(report)])


def blocks_text(title: str, about: str, blocks: Sequence[Table | str]) -> str:
    """A title, and tables and sentences below it in their order."""
    parts = [f"# {_pipe(title)}", *([about] if about else [])]
    for block in blocks:
        parts += [_stars(block)] if isinstance(block, str) else [f"## {_pipe(block.title)}", markdown_table(block)]
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """A table alone, with pipes."""
    rule = ["---" if index in table.text else "---:" for index in range(len(table.header))]
    body = [[f"**{_stars(_pipe(c.text))}**" if c.strong else _stars(_pipe(c.text)) for c in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[_pipe(name) for name in table.header], rule, *body])


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


def _stars(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")
