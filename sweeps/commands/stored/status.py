"""``setsweep status``: what is done, running, failed and waiting."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.records.archive import is_archived
from setsweep.sweeps.records.journal import FILE
from setsweep.sweeps.records.status_file import running_now
from setsweep.sweeps.records.study_folder import (
    storage_folder,
    storages_nearby,
    stored_planner,
    stored_studies,
    stored_study,
)
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study


def command(study: str | None = None, *, archived: bool = False, storage: str = DEFAULT_STORAGE) -> int:
    """Print what is done, running, failed and waiting.

    Args:
        study: a study file, or the name of a study; default: all studies of the storage.
        archived: list those in the archive, too.
        storage: folder or file:// URL where results are kept.
    """
    if study is not None:
        read, folder = stored_study(study, storage)
        if not (folder / FILE).exists():
            rule = f"--storage must be a folder in which {read.name!r} was run, got {storage!r}."
            raise ValueError(f"{rule}{storages_nearby()}")
        (table, failed), hidden = _arms(read, folder), 0
    else:
        read = None
        table, failed, hidden = _studies(storage_folder(storage), archived=archived)
        if hidden:
            print(f"{hidden} archived: --archived lists {'it' if hidden == 1 else 'them'}, too.", file=sys.stderr)
    if table.row_count == 0 and not hidden:
        rule = f"--storage must be a folder in which a study was run, got {storage!r}.{storages_nearby()}"
        raise ValueError(f"{rule} 'setsweep studies' lists what can be run.")
    Console().print(table)
    for note in read.notes if read else ():
        print(f"Note: {note}")
    return FAILED if failed else DONE


def _studies(storage: Path, *, archived: bool) -> tuple[Table, int, int]:
    """The table, how many runs failed, and how many studies are not listed."""
    table, failed = _table("study"), 0
    there = stored_studies(storage)
    listed = [folder for folder in there if archived or not is_archived(folder)]
    for folder in listed:
        study = read_study(folder / "study.yaml")
        planner = stored_planner(study, folder)
        states = Counter[str](result.status for _, result in planner.runs() if result is not None)
        running = len(running_now(folder))
        _row(table, study.name, states, running, planner.total)
        failed += states["failed"] + states["diverged"]
    return table, failed, len(there) - len(listed)


def _arms(study: Study, folder: Path) -> tuple[Table, int]:
    table, failed = _table("arm"), 0
    planner = stored_planner(study, folder)
    running = Counter(running_now(folder).values())
    for arm in study.arms:
        states = Counter[str](r.status for run, r in planner.runs() if run.arm == arm and r is not None)
        _row(table, arm, states, running[arm], planner.total_of(arm))
        failed += states["failed"] + states["diverged"]
    return table, failed


def _table(first: str) -> Table:
    table = Table(box=None)
    table.add_column(first)
    for heading in ("done", "running", "diverged", "failed", "waiting"):
        table.add_column(heading, justify="right")
    return table


def _row(table: Table, name: str, states: Counter[str], running: int, total: int) -> None:
    waiting = max(0, total - sum(states.values()) - running)
    numbers = (states["done"], running, states["diverged"], states["failed"], waiting)
    table.add_row(name, *(str(number) for number in numbers))
