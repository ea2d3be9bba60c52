"""A report as a folder of files."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from setsweep.sweeps.reports.formats import csv, html, render
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity.render import write_sensitivity
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity, primary_accuracy

PROBLEMS = "problems.txt"
_FILES = {"report.md": "markdown", "report.json": "json", "report.csv": "csv", "report.tex": "latex"}


def write_report(report: Report, folder: Path) -> list[Path]:
    """Writes report.md, .json, .csv, .tex, .html, comparisons.csv and the figures into `folder`; gives the files.

    The folder is made where missing. Equal results give equal bytes. The figures lie beside the files, and in the HTML
    as well. A study with a sensitivity study has the files of that beside them. What can't be drawn or written for an
    error of its own costs nothing else: it is left out, said among the notes of what comes after it, and
    ``problems.txt`` has the tracebacks.

    Raises:
        OSError: the folder can't be written.
    """
    from setsweep.sweeps.reports.figures import write_figures  # imported late: matplotlib takes a second

    folder.mkdir(parents=True, exist_ok=True)
    problems = _Problems()
    figures = write_figures(report, folder, problems.add)
    report = problems.noted_in(report)
    written: list[Path] = []
    for name, form in _FILES.items():
        written += problems.tried(folder / name, partial(render, report, form))
    written += problems.tried(folder / "comparisons.csv", partial(csv.comparisons, report))
    written += problems.tried(folder / "report.html", partial(html.text, report, figures))
    try:
        written += _sensitivity(report, folder)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        problems.add(folder / "sensitivity.html", error)
    return [*written, *figures, *problems.written(folder / PROBLEMS)]


class _Problems:
    """Errors of single files."""

    def __init__(self) -> None:
        self._found: list[tuple[Path, Exception]] = []

    def add(self, path: Path, error: Exception) -> None:
        """A file can't be made; one that can't be written for want of a folder or of space is no such problem."""
        if isinstance(error, OSError):
            raise error
        self._found.append((path, error))

    def tried(self, path: Path, make: Callable[[], str]) -> list[Path]:
        """Write what is made; gives the file, or nothing."""
        try:
            text = make()
        except Exception as error:  # noqa: BLE001 - see `write_report`
            self.add(path, error)
            return []
        path.write_text(text, encoding="utf-8", newline="\n")
        return [path]

    def noted_in(self, report: Report) -> Report:
        """The report with a note for each."""
        notes = [f"{path.name} is missing, for an error in drawing it: {error!r}." for path, error in self._found]
        return replace(report, study=replace(report.study, notes=(*report.study.notes, *notes))) if notes else report

    def written(self, path: Path) -> list[Path]:
        """The file of tracebacks, where there are any; one of before is removed."""
        if not self._found:
            path.unlink(missing_ok=True)
            return []
        texts = ["".join(traceback.format_exception(error)) for _, error in self._found]
        path.write_text(
            "\n".join(f"{of.name}\n{text}" for (of, _), text in zip(self._found, texts, strict=True)), encoding="utf-8"
        )
        return [path]


def _sensitivity(report: Report, folder: Path) -> list[Path]:
    """The files of the sensitivity study; none where there is no such study, or nothing of it yet."""
    if not any(
        one.stage == "sensitivity" and one.metric == primary_accuracy(report.study) for one in report.aggregates
    ):
        return []
    return write_sensitivity(build_sensitivity(report), folder)
