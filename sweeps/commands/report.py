"""``setsweep report``: tables and figures from what is done so far, beside a running sweep or after it."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import stored_study
from setsweep.sweeps.reports.formats.renderings import render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report


def report_command(study: str, *, storage: str, form: str = "terminal", out: Path | None = None) -> int:
    """Print or write the report; gives the exit code.

    Args:
        study: a path, or a name.
        storage: see `sweeps.records.study_folder.storage_folder`.
        form: see `render`.
        out: folder to write every format and the figures into instead.

    Raises:
        ValueError: there is no such study.
    """
    read, folder = stored_study(study, storage)
    report = build_report(read, Planner(read, Journal(folder, read_only=True).results).runs())
    if out is not None:
        for path in write_report(report, out):
            print(path)
    else:
        print(render(report, form).rstrip("\n"))
    return FAILED if report.counts.failed else DONE
