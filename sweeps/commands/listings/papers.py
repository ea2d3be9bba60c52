"""``setsweep papers``: the papers' tables that bundled studies run, what each costs, and how it has come out here."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import table
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import stored_planner, study_folder
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.statistics.published import Beside, by_place
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.source import bundled_studies

HEADINGS = ("published", "study", "runs", "numbers", "found here", "inside")


def command(*, storage: str = DEFAULT_STORAGE) -> int:
    """List the papers' tables that bundled studies run, with what has been found of them in a storage.

    Args:
        storage: folder or file:// URL where results are kept.
    """
    rows = [row for name in bundled_studies() for row in _rows(read_study(name), storage)]
    print(table(HEADINGS, sorted(rows)))
    print("\n'setsweep plan STUDY' measures how long runs take; 'setsweep report STUDY' holds each number beside ours.")
    return DONE


def _rows(study: Study, storage: str) -> list[tuple[str, ...]]:
    """A row for each table or figure that the study has numbers of."""
    if not study.published:
        return []
    folder = study_folder(storage, study.name)
    planner = stored_planner(study, folder) if folder.is_dir() else Planner(study)
    report = build_report(study, planner.runs())
    return [(where, study.name, str(planner.total), *_counts(own)) for where, own in by_place(report.published).items()]


def _counts(rows: Sequence[Beside]) -> tuple[str, str, str]:
    found = [each for each in rows if each.mean is not None]
    inside = sum(each.inside is True for each in found)
    return str(len(rows)), str(len(found)) if found else "-", str(inside) if found else "-"
