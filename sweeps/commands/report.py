"""``setsweep report``: tables and figures from what is done so far, beside a running sweep or after it."""

from __future__ import annotations

import argparse

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import stored_study
from setsweep.sweeps.reports.formats.renderings import render
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.report_folder import write_report


def report_study(options: argparse.Namespace) -> int:
    """Print or write the report; 1 where runs have failed."""
    report = current_report(options.study, options.storage)
    if options.out is not None:
        for path in write_report(report, options.out):
            print(path)
    else:
        print(render(report, options.format).rstrip("\n"))
    return 1 if report.counts.failed else 0


def current_report(study: str, storage: str) -> Report:
    """The report of a study from its journal."""
    read, folder = stored_study(study, storage)
    planner = Planner(read, Journal(folder, read_only=True).results)
    return build_report(read, planner.runs())
