"""``setsweep rescore``: a study measured anew from the scores that it has kept, in seconds and without a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE, rescore
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.reports.formats import check_format
from setsweep.sweeps.sweep.rescoring import RescoredResult
from setsweep.trainables.evaluation.metric import SET_RULES


def command(
    study: StoredStudy,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    thresholds: Literal["val", "test"] = "val",
    storage: str = DEFAULT_STORAGE,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
    out: Path | None = None,
) -> int:
    """Print the tables of a study for other set sizes, heads or thresholds, from the scores that it has kept.

    Args:
        study: a study file, or the name of a study.
        overrides: what is asked instead, e.g. --set k=[1,5] or --set training.head=best (for each accuracy the head
            that is better on validation); k, coverage, conformal.*, training.head, training.threshold_scores and
            compare.*; may be given several times.
        thresholds: the split that the thresholds of average-k sets come from.
        storage: folder or URL where results are kept.
        form: terminal, markdown, json, csv, latex or html.
        out: write into this folder, too, how large the sets of each run are, of every kind (set_sizes.csv), its
            accuracy against k (accuracy_by_k.csv) and for each class (per_class.csv), and draw that against training
            images (per_class-1.png, one for each point of the grid).
    """
    check_format(form)
    result = rescore(storage, study, overrides or (), thresholds=thresholds)
    print(result.report(form).rstrip("\n"))
    if out is not None:
        print(*_written(result, out), sep="\n")
    return DONE


def _written(result: RescoredResult, out: Path) -> list[Path]:
    """The files of what kept scores tell beyond means."""
    asked = result.study
    frames = {
        "set_sizes": pd.concat([result.set_sizes(sets).assign(sets=sets) for sets in result.kinds_of_sets]),
        "accuracy_by_k": result.accuracy_by_k(at=f"avg{asked.k[-1]}_accuracy"),
        "per_class": pd.concat(
            [result.per_class(rule, k).assign(sets=rule, k=k) for rule in SET_RULES for k in asked.k]
        ),
    }
    paths = [out / f"{name}.csv" for name in frames]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, frame in zip(paths, frames.values(), strict=True):
            frame.to_csv(path, index=False)
        return [*paths, *_drawn(result, frames["per_class"], out)]
    except OSError as error:
        raise ValueError(f"--out must be a folder that can be written, got {str(out)!r}: {error.strerror}.") from None


def _drawn(result: RescoredResult, per_class: pd.DataFrame, out: Path) -> list[Path]:
    """The figures of results by class."""
    from setsweep.sweeps.reports.panels import file_name
    from setsweep.sweeps.reports.per_class_figure import draw_per_class

    points = enumerate(result.study.points(), 1)
    named = ((point, out / file_name("per_class", number, point)) for number, point in points)
    drawn = (draw_per_class(result.study, per_class, point, path) for point, path in named)
    return [path for path in drawn if path is not None]
