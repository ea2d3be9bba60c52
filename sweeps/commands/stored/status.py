"""``setsweep status``: what is done, running, failed and waiting."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.cluster.asked import status_there
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.stored.progress import StudyProgress, progress_of, states
from setsweep.sweeps.commands.stored.watching import running_lines
from setsweep.sweeps.commands.stored.watching import watch as watch_table
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.archive import is_archived
from setsweep.sweeps.records.lease import FILE
from setsweep.sweeps.records.running import live_metric
from setsweep.sweeps.records.status_file import running_runs
from setsweep.sweeps.records.study_folder import storage_folder, storages_nearby, stored_studies, stored_study
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.sweeps.sweep.progress import to_go

STATES = ("done", "running", "diverged", "failed", "waiting")


def command(
    study: StoredStudy | None = None,
    *,
    archived: bool = False,
    as_json: AsJson = False,
    storage: str = DEFAULT_STORAGE,
    address: str | None = None,
    watch: bool = False,
) -> int:
    """Print what is done, running, failed and waiting.

    Args:
        study: a study file, or the name of a study; default: all studies of the storage.
        archived: list those in the archive, too.
        as_json: print it as JSON.
        storage: folder or URL where results are kept.
        address: of studies that were submitted: http://HEAD:8265, or "cluster" for the one that is noted.
        watch: show it again and again while something is trained, with epoch, loss and validation metric of each run.
    """
    if address is not None:
        return status_there(study, address, as_json=as_json)
    if not watch:
        gc.disable()  # what is read lives to the end: looking for what doesn't took an eighth of the time
    found = _found(study, storage, archived=archived)
    if as_json:
        plain = {"storage": str(storage_folder(storage)), "studies": [each.plain for each in found]}
        print(json_text(plain), end="")
    elif watch:
        watch_table(lambda: _shown(study, _found(study, storage, archived=archived)), lambda: _lines(found))
    else:
        Console().print(_shown(study, found))
    for note in found[0].study.notes if study is not None and not as_json else ():
        print(f"Note: {note}")
    return FAILED if any(each.counts.diverged + each.counts.failed for each in found) else DONE


def _found(study: str | None, storage: str, *, archived: bool) -> Sequence[StudyProgress]:
    return _all(storage, archived=archived) if study is None else [_one(study, storage)]


def _shown(study: str | None, found: Sequence[StudyProgress]) -> Table:
    if study is not None:
        shown, seconds = _table("arm", found[0].plain["arms"]), found[0].seconds_left
        shown.title = None if seconds is None else to_go(seconds)
        return shown
    return _table("study", {each.study.name: states(each.counts, sum(each.running.values())) for each in found})


def _lines(found: Sequence[StudyProgress]) -> list[str]:
    """A line for each run that is being trained now."""
    return [line for each in found for line in running_lines(running_runs(each.folder), live_metric(each.study))]


def _one(study: str, storage: str) -> StudyProgress:
    read, folder = stored_study(study, storage)
    if not (folder / FILE).exists():
        rule = f"--storage must be a folder in which {read.name!r} was run, got {storage!r}."
        raise ValueError(f"{rule}{storages_nearby()}")
    return progress_of(read, folder)


def _all(storage: str, *, archived: bool) -> Sequence[StudyProgress]:
    there = stored_studies(storage_folder(storage))
    if not there:
        rule = f"--storage must be a folder in which a study was run, got {storage!r}.{storages_nearby()}"
        raise ValueError(f"{rule} 'setsweep studies' lists what can be run.")
    listed = [folder for folder in there if archived or not is_archived(folder)]
    if hidden := len(there) - len(listed):
        print(f"{hidden} archived: --archived lists {'it' if hidden == 1 else 'them'}, too.", file=sys.stderr)
    return [progress_of(study, folder) for study, folder in _readable(listed)]


def _readable(folders: Sequence[Path]) -> Iterator[tuple[Study, Path]]:
    """The studies in the folders; one that can't be read, as a module that it names is elsewhere, is told of alone."""
    for folder in folders:
        try:
            study = read_study(folder / "study.yaml")
        except ValueError as error:
            print(f"Not listed: {folder.name}, which must be readable from here: {error}", file=sys.stderr)
        else:
            yield study, folder


def _table(first: str, rows: Mapping[str, Mapping[str, int]]) -> Table:
    table = Table(box=None, title_justify="left")
    table.add_column(first)
    for heading in STATES:
        table.add_column(heading, justify="right")
    for name, numbers in rows.items():
        table.add_row(name, *(str(numbers[state]) for state in STATES))
    return table
