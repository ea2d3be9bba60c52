"""A report as a folder of files."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps.reports.formats import csv, html, render
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity.render import write_sensitivity
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity, primary_accuracy

_FILES = {"report.md": "markdown", "report.json": "json", "report.csv": "csv", "report.tex": "latex"}


def write_report(report: Report, folder: Path) -> list[Path]:
    """Writes report.md, .json, .csv, .tex, .html, comparisons.csv and the figures into `folder`; gives the files.

    The folder is made where missing. Equal results give equal bytes. The figures lie beside the files, and in the HTML
    as well. A study with a sensitivity study has the files of that beside them.
    """
    from setsweep.sweeps.reports.figures import write_figures  # imported late: matplotlib takes a second

    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: render(report, form) for name, form in _FILES.items()}
    texts[folder / "comparisons.csv"] = csv.comparisons(report)
    figures = write_figures(report, folder)
    texts[folder / "report.html"] = html.text(report, figures)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return [*texts, *figures, *_sensitivity(report, folder)]


def _sensitivity(report: Report, folder: Path) -> list[Path]:
    """The files of the sensitivity study; none where there is no such study, or nothing of it yet."""
    if not any(
        one.stage == "sensitivity" and one.metric == primary_accuracy(report.study) for one in report.aggregates
    ):
        return []
    return write_sensitivity(build_sensitivity(report), folder)
