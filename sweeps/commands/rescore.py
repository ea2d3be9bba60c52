"""``setsweep rescore``: a study measured anew from the scores that it has kept, in seconds and without a worker."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE, rescore
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.reports.formats import check_format


def command(
    study: str,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    thresholds: Literal["val", "test"] = "val",
    storage: str = DEFAULT_STORAGE,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
) -> int:
    """Print the tables of a study for other set sizes, heads or thresholds, from the scores that it has kept.

    Args:
        study: a study file, or the name of a study.
        overrides: what is asked instead, e.g. --set k=[1,5] or --set training.head=best (for each accuracy the head
            that is better on validation); k, training.head, training.threshold_scores and compare.*; may be given
            several times.
        thresholds: the split that the thresholds of average-k sets come from.
        storage: folder or file:// URL where results are kept.
        form: terminal, markdown, json, csv, latex or html.
    """
    check_format(form)
    print(rescore(storage, study, overrides or (), thresholds=thresholds).report(form).rstrip("\n"))
    return DONE
