"""``setsweep report``: tables and figures from what is done so far, beside a running sweep or after it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import stored_study
from setsweep.sweeps.reports.formats import check_format, render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report


def command(
    study: str,
    *,
    storage: str = DEFAULT_STORAGE,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
    out: Path | None = None,
) -> int:
    """Print the tables of a study from what is done so far.

    Args:
        study: a study file, or the name of a study.
        storage: folder or file:// URL where results are kept.
        form: terminal, markdown, json, csv, latex or html.
        out: write every format and the figures into this folder instead.
    """
    check_format(form)
    read, folder = stored_study(study, storage)
    report = build_report(read, Planner(read, Journal(folder, read_only=True).results).runs())
    if out is not None:
        for path in write_report(report, out):
            print(path)
    else:
        print(render(report, form).rstrip("\n"))
    return FAILED if report.counts.failed else DONE
