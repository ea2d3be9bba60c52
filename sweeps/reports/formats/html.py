"""A report as one HTML file that needs no other: style, figures, numbers and a script are inside.

It reads without scripts; with them tables are sorted by a click, and numbers shown seed by seed.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

from PIL import Image

from setsweep.sweeps.reports import examples
from setsweep.sweeps.reports.explorer.page import STYLE, script, section
from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Cell, Table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 75rem; margin: 2rem auto;
       padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
.text { text-align: left; }
img { max-width: 100%; }
figure { margin: 1.5rem 0; }
figcaption { color: #555; }
.notes { color: #555; }
"""

MOST = 2_000_000  # characters of a page, which pictures keep to: MLflow loads it whole
_NOTED = 2_000  # of them for the names of figures that have no room


def text(report: Report, figures: Sequence[Path] = ()) -> str:
    """The page, with the PNG files `figures` inside it."""
    study = report.study
    blocks: list[Table | str] = [*all_tables(report), *notes(report)]
    sections = section(report) + examples.section(report.examples)
    return blocks_text(study.name, study.about, progress(report), blocks, figures, sections=sections)


def blocks_text(
    title: str,
    about: str,
    lead: str,
    blocks: Sequence[Table | str],
    figures: Sequence[Path] = (),
    *,
    sections: str = "",
) -> str:
    """A page with a title, a first sentence, tables and sentences in their order, and the PNG files inside it.

    `sections` is markup that stands before the first sentence.
    """
    name = escape(title)
    tables = next((place for place, block in enumerate(blocks) if isinstance(block, str)), len(blocks))
    below = f"<p>{escape(about)}</p>\n" if about else ""
    page = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{name}</title>\n'
        f"<style>{_STYLE}{STYLE}{examples.STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n{below}"
        + (f"<p>{escape(lead)}</p>\n" if lead else "")
        + "".join(map(_block, blocks[:tables]))
        + sections
        + "".join(map(_block, blocks[tables:]))
    )
    end = f"{script()}</body>\n</html>\n"
    return page + _figures(figures, max(MOST - len(page) - len(end), MOST // 4)) + end


def _block(block: Table | str) -> str:
    return f'<p class="notes">{escape(block)}</p>\n' if isinstance(block, str) else _table(block)


def _table(table: Table) -> str:
    kinds = [' class="text"' if index in table.text else "" for index in range(len(table.header))]
    header = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.header, kinds, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row, kinds))}</tr>\n" for row in table.rows)
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="scroll"><table>\n'
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )


def _cell(cell: Cell, kind: str) -> str:
    shown = escape(cell.text)
    return f"<td{kind}><b>{shown}</b></td>" if cell.strong else f"<td{kind}>{shown}</td>"


def _figures(paths: Sequence[Path], room: int) -> str:
    """The figures, as many of the first as there is room for, in characters; the names of the others."""
    shown = ""
    for place, path in enumerate(paths):
        figure = _figure(path)
        if len(shown) + len(figure) > room - _NOTED:
            names = ", ".join(each.name for each in paths[place:])
            return f'{shown}<p class="notes">{escape(_cut(f"Further figures, beside this page: {names}"))}</p>\n'
        shown += figure
    return shown


def _figure(path: Path) -> str:
    shown, data = escape(_description(path)), base64.b64encode(_as_webp(path)).decode()
    image = f'<img alt="{shown}" src="data:image/webp;base64,{data}">'
    return f"<figure>{image}<figcaption>{shown}</figcaption></figure>\n"


def _as_webp(path: Path) -> bytes:
    """The same picture in three quarters of the space."""
    small = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").save(small, format="WEBP", lossless=True, method=4)
    return small.getvalue()


def _cut(names: str) -> str:
    """A sentence of names; what is too long for its place ends in dots."""
    return f"{names}." if len(names) < _NOTED // 2 else f"{names[: _NOTED // 2]}…"


def _description(path: Path) -> str:
    from setsweep.sweeps.reports.panels import description  # imported late: matplotlib takes a second

    return description(path)
