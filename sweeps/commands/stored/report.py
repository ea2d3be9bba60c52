"""``setsweep report``: tables and figures from what is done so far, beside a running sweep or after it."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.mlflow_address import recorded_address
from setsweep.sweeps.records.study_folder import stored_state, stored_study
from setsweep.sweeps.reports.formats import check_format, render
from setsweep.sweeps.reports.report import Report, build_report, with_examples
from setsweep.sweeps.reports.report_folder import write_report


def command(
    study: StoredStudy,
    *,
    storage: str = DEFAULT_STORAGE,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
    out: Path | None = None,
) -> int:
    """Print the tables of a study from what is done so far.

    Args:
        study: a study file, or the name of a study.
        storage: folder or URL where results are kept.
        form: terminal, markdown, json, csv, latex or html.
        out: write every format and the figures into this folder instead.
    """
    check_format(form)
    read, folder = stored_study(study, storage)
    gc.disable()  # what is read lives to the end: looking for what doesn't took an eighth of the time
    planner, looks = stored_state(read, folder, results_of=storage)
    report = with_examples(build_report(planner.study, planner.runs(), looks, total=planner.total), folder)
    gc.enable()
    if out is None:
        print(render(report, form).rstrip("\n"))
    else:
        print(*_written(report, out), sep="\n")
    if address := recorded_address(folder):
        print(f"MLflow: {address}", file=sys.stderr)
    return FAILED if report.counts.failed else DONE


def _written(report: Report, out: Path) -> list[Path]:
    try:
        return write_report(report, out)
    except OSError as error:
        raise ValueError(f"--out must be a folder that can be written, got {str(out)!r}: {error.strerror}.") from None
