"""``setsweep papers``: every table and figure of the papers, what repeats it, what that costs, how it has come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from rich.console import Console

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import stored_planner, study_folder
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.statistics.aggregates import Runs
from setsweep.sweeps.statistics.published import by_place
from setsweep.sweeps.study.reader import read_bundled
from setsweep.sweeps.study.study import Study, point_key
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.sweeps.study.text.source import bundled_studies

NUMBERS = ("runs", "hours", "done", "numbers", "found", "inside")
LEGEND = """\
'setsweep run STUDY' repeats one, with --set scale=small in its small form
(STUDY-small), which says what it leaves out. Hours are of one slot: those that
runs here have taken, else (--measure) what 'setsweep plan' forecasts; -: not
known. Numbers are those that the paper prints; found are those that have ours
beside them, inside those that agree."""
SCRIPTS = {
    "Garcin et al. 2022, figure 1": "python tests/benchmarks/papers/level_sets.py",
    "Garcin et al. 2022, figure 2": "python tests/benchmarks/papers/sparsity.py",
    "Garcin et al. 2022, figure 3": "python tests/benchmarks/papers/epoch_time.py",
    "Garcin et al. 2022, figure 4": "python tests/benchmarks/papers/level_sets.py",
    "Garcin et al. 2022, figure 5": "python tests/benchmarks/papers/level_sets.py",
    "Garcin et al. 2022, figure 6": "python tests/benchmarks/papers/level_sets.py",
    "Sawada et al. 2020, figure 5": "python tests/benchmarks/papers/arcs.py",
}
"""What is no study: what is drawn or timed, by the table or figure."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A table or figure, and what repeats it.

    Args:
        published: the paper, and its table or figure.
        study: a study by its name, the small form being another; or a command.
        runs, done: of the study; None: a command has none.
        hours: of all its runs on one slot; None: not known.
        numbers, found, inside: how many the paper prints, how many have ours beside them, how many of those agree.
        best: the arm that is best by the study's primary metric, with the number of points of the grid where it is.
    """

    published: str
    study: str
    runs: int | None = None
    hours: float | None = None
    done: int | None = None
    numbers: int = 0
    found: int = 0
    inside: int = 0
    best: str = ""


def command(*, storage: str = DEFAULT_STORAGE, measure: bool = False, as_json: AsJson = False) -> int:
    """List every table and figure of the papers, what repeats it, what that costs, and how it has come out here.

    Args:
        storage: folder or URL where results are kept.
        measure: train a little of each study, to forecast how long it takes; minutes.
        as_json: print it as JSON.
    """
    scripts = [Row(published=where, study=script) for where, script in SCRIPTS.items()]
    rows = [row for study in bundled_forms() for row in _rows(study, storage, measure)] + scripts
    rows.sort(key=lambda row: (row.published, row.study))
    if as_json:
        print(json_text([asdict(row) for row in rows]), end="")
    else:
        print(f"{_text(rows)}\n\n{LEGEND}")
    return DONE


def bundled_forms() -> Iterator[Study]:
    """The bundled studies, each followed by its small form."""
    for name in bundled_studies():
        study = read_bundled(name)
        yield study
        if study.has_small_form:
            yield read_bundled(name, ["scale=small"])


def _rows(study: Study, storage: str, measure: bool) -> Iterator[Row]:
    """A row for each table or figure that the study repeats."""
    if not (study.published or study.reproduces):
        return
    folder = study_folder(storage, study.name)
    planner = stored_planner(study, folder) if folder.is_dir() else Planner(study)
    runs = planner.runs()
    report = build_report(study, runs)
    hours = _hours(planner, runs) or (_forecast(study, storage) if measure else None)
    places = by_place(report.published)
    for where in dict.fromkeys((*study.reproduces, *places)):
        beside = places.get(where, [])
        yield Row(
            published=where,
            study=study.name,
            runs=planner.total,
            hours=hours,
            done=planner.counts().done,
            numbers=len(beside),
            found=sum(each.mean is not None for each in beside),
            inside=sum(each.inside is True for each in beside),
            best=_best(report),
        )


def _hours(planner: Planner, runs: Runs) -> float | None:
    """Of all runs on one slot, by those that have ended; None where none has."""
    taken = [result.seconds for _, result in runs if result is not None and result.status == "done"]
    return sum(taken) / len(taken) * planner.total / 3600 if taken else None


def _forecast(study: Study, storage: str) -> float | None:
    from setsweep.sweeps.commands.plan import make_plan  # torch: of seconds, which the listing need not wait for

    plan = make_plan(study, Console(stderr=True), storage=storage)
    return plan.seconds / 3600 if plan.known else None


def _best(report: Report) -> str:
    """The arm that is best at most points, by the primary metric, and at how many of how many."""
    best: dict[str, tuple[float, str]] = {}
    for each in report.aggregates:
        if each.stage == "confirm" and each.metric == report.study.primary and each.mean is not None:
            best[point_key(each.point)] = max(best.get(point_key(each.point), (-1.0, "")), (each.mean, each.arm))
    if not best or len(report.study.arms) == 1:
        return ""
    [(arm, points)] = Counter(arm for _, arm in best.values()).most_common(1)
    return arm if points == len(best) else f"{arm} at {points} of {len(best)} points"


def _text(rows: Sequence[Row]) -> str:
    """What repeats each table and figure, below it: lines of at most 80 characters."""
    name = max(len(row.study) for row in rows if row.runs is not None)
    blocks = [f"{'':{name + 2}} {' '.join(NUMBERS)}"]
    for where, of_it in groupby(rows, key=lambda row: row.published):
        lines = [line for row in of_it for line in _lines(row, name)]
        blocks.append("\n".join([where, *lines]))
    return "\n\n".join(blocks)


def _lines(row: Row, name: int) -> Iterator[str]:
    if row.runs is None:
        yield f"  {row.study}"
        return
    found: tuple[Any, ...] = (row.numbers, row.found, row.inside)
    if not row.numbers:
        found = ("", "", "")
    elif not row.found:
        found = (row.numbers, "-", "-")
    hours = "-" if row.hours is None else f"{row.hours:.2g}"
    cells = zip((row.runs, hours, row.done, *found), NUMBERS, strict=True)
    yield f"  {row.study:<{name}} {' '.join(f'{cell:>{len(head)}}' for cell, head in cells)}".rstrip()
    if row.best:
        yield f"    best here: {row.best}"
