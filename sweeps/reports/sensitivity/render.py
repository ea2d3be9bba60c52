"""The sensitivity of a study in every format, and as a folder of files with pictures."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps.reports.formats import html, markdown, terminal
from setsweep.sweeps.reports.sensitivity.plain import csv_text, json_text
from setsweep.sweeps.reports.sensitivity.sections import blocks
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity

FORMATS = ("terminal", "markdown", "json", "csv", "html")
_FILES = {"sensitivity.md": "markdown", "sensitivity.json": "json", "sensitivity.csv": "csv"}


def check_form(form: str) -> None:
    """Raise ValueError for a format that there is none of."""
    if form not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {form!r}.")


def render_sensitivity(found: Sensitivity, form: str) -> str:
    """In one of the formats.

    Raises:
        ValueError: an unknown format.
    """
    check_form(form)
    if form == "json":
        return json_text(found)
    if form == "csv":
        return csv_text(found)
    title, about, shown = _title(found), found.study.about, blocks(found)
    if form == "markdown":
        return markdown.blocks_text(title, about, shown)
    if form == "html":
        return html.blocks_text(title, about, "", shown)
    return terminal.blocks_text(title, about, shown)


def write_sensitivity(found: Sensitivity, folder: Path) -> list[Path]:
    """Writes sensitivity.md, .json, .csv, .html and the pictures into `folder`, made where missing; gives the files."""
    from setsweep.sweeps.reports.sensitivity.pictures import draw_all  # imported late: matplotlib takes a second

    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_all(found, folder)
    texts = {folder / name: render_sensitivity(found, form) for name, form in _FILES.items()}
    texts[folder / "sensitivity.html"] = html.blocks_text(_title(found), found.study.about, "", blocks(found), drawn)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return [*texts, *drawn]


def _title(found: Sensitivity) -> str:
    return f"{found.study.name}: sensitivity"
