"""``setsweep sensitivity``: how much hyperparameters matter, from a sensitivity study or any finished search."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.study_folder import stored_state, stored_study
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.sensitivity.render import check_form, render_sensitivity, write_sensitivity
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity


def command(
    study: StoredStudy,
    *,
    storage: str = DEFAULT_STORAGE,
    metric: str | None = None,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
    out: Path | None = None,
) -> int:
    """Print how much the hyperparameters of a study matter: curves, plateaus, shares of variance.

    Args:
        study: a study file, or the name of a study.
        storage: folder or URL where results are kept.
        metric: an accuracy on validation or test, e.g. test/avg5_accuracy; default: the study's primary one.
        form: terminal, markdown, json, csv or html.
        out: write every format and the pictures into this folder instead.
    """
    check_form(form)
    gc.disable()  # what is read lives to the end: looking for what doesn't took a tenth of the time
    planner, _ = stored_state(*stored_study(study, storage), results_of=storage)
    report = build_report(planner.study, planner.runs(), total=planner.total)
    found = build_sensitivity(report, metric)
    gc.enable()
    if out is None:
        print(render_sensitivity(found, form).rstrip("\n"))
    else:
        try:
            print(*write_sensitivity(found, out), sep="\n")
        except OSError as error:
            raise ValueError(
                f"--out must be a folder that can be written, got {str(out)!r}: {error.strerror}."
            ) from None
    return FAILED if report.counts.failed else DONE
