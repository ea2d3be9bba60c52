"""The folder of a study: its journal, its study file, and whether the study is still the one that was begun there."""

from __future__ import annotations

import dataclasses
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from setsweep.losses.values import nearest
from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE, JournalError, Say
from setsweep.sweeps.records.remote.working_copy import bring, bring_all, is_stored, working_copy
from setsweep.sweeps.study.defaults import DEFAULTS, as_begun
from setsweep.sweeps.study.difference import describe_difference
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.source import bundled_studies
from setsweep.trainables.places import SCHEMES, AnyPath, StoredPath
from setsweep.trainables.settings.yaml_text import read_yaml

ARCHIVED = "archived"  # the mark of a study that was put aside, see `records.archive`
_SHOWN = 5

Folder = TypeVar("Folder", Path, StoredPath, AnyPath)


class OtherStudyError(ValueError):
    """The storage holds a study of this name with other contents."""


def storage_folder(storage: str) -> Path:
    """The folder of a storage (a folder or a URL); it holds a folder a study. Of an object store it is a working copy.

    Raises:
        JournalError: a URL of another kind, or of another host.
    """
    parts = urllib.parse.urlsplit(storage)
    if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
        raise JournalError(f"--storage must be a folder of this machine, as in file:///home/results, got {storage!r}.")
    if is_stored(storage):
        return working_copy(storage)
    if parts.scheme == "file":
        return Path(urllib.request.url2pathname(parts.path))
    if len(parts.scheme) > 1:
        raise JournalError(
            f"--storage must be a folder, or the URL of one (file) or of an object store ({', '.join(SCHEMES)}), "
            f"got {storage!r}."
        )
    return Path(storage).expanduser()


def study_folder(storage: str, name: str) -> Path:
    """Where a study is kept, see `storage_folder`; as an object store has it now."""
    folder = storage_folder(storage) / name
    bring(folder)
    return folder


def model_folder(folder: Folder, run: PlannedRun) -> Folder:
    """Where a run's trained model lies in the study's folder."""
    return folder / "models" / run.key


def score_folder(folder: Folder, run: PlannedRun) -> Folder:
    """Where the scores of a run lie in the study's folder; see `trainables.evaluation.kept.score_store`."""
    return folder / "scores" / run.key


def scores_size(folder: AnyPath) -> int:
    """The bytes that all scores in a study's folder take."""
    if isinstance(folder, StoredPath):
        return sum(size for _, size in (folder / "scores").below().values())
    return sum(map(_size, (folder / "scores").rglob("*.pt")))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # one in the middle of being written
        return 0


def open_journal(
    study: Study, folder: Path, *, replace: bool = False, take_over: bool = False, say: Say | None = None
) -> Journal:
    """The study's journal, open for writing.

    Arms, grid points, trials and seeds may be added or changed from one time to the next: what is new is trained, what
    is there is used. Other changes of what the results mean (data, model, training, the search's protocol) must be
    meant, once there are results.

    Args:
        study: what is to be run; where it was begun under other defaults (see `Journal.defaults`), those count.
        folder: see `study_folder`.
        replace: take a study with other contents as the new one; results of equal runs are still used.
        take_over, say: see `records.lease.Lease`.

    Raises:
        JournalError: the folder can't be written, or another sweep writes to it.
        OtherStudyError: the storage holds this name with other contents; says what differs and what to choose from.
    """
    journal = Journal(folder, take_over=take_over, say=say)
    replace = replace or not journal.results
    defaults = DEFAULTS if replace else journal.defaults
    study = as_begun(study, defaults)
    if journal.study is not None and not replace:
        try:
            _check_same(study, folder, journal.study["protocol"])
        except OtherStudyError:
            journal.close()
            raise
    begun = {} if defaults == 1 else {"defaults": defaults}
    journal.describe({"name": study.name, "protocol": study.protocol(), "text": study.text, **begun})
    _keep_study_file(study, folder)
    (folder / ARCHIVED).unlink(missing_ok=True)  # a study that is run is in use
    return journal


def stored_planner(study: Study, folder: Path, *, curves: bool = True) -> Planner:
    """What is decided and done of a study in its folder, which is left as it is; its `study` is the one begun there.

    With `curves=False` results come without their curves, see `Journal`.
    """
    return stored_state(study, folder, curves=curves)[0]


def stored_state(
    study: Study, folder: Path, *, results_of: str | None = None, curves: bool = True
) -> tuple[Planner, list[Look]]:
    """What `stored_planner` gives, and the confirmations that were complete so far; the journal is read once.

    Args:
        study, folder: as there.
        results_of: the storage, where there must be a result of the study in it.
        curves: see `Journal`.

    Raises:
        ValueError: nothing of the study is there; says where else results are kept.
    """
    journal = Journal(folder, read_only=True, curves=curves)
    if results_of is not None and not journal.results:
        raise ValueError(_no_results(study, folder, results_of))
    return Planner(as_begun(study, journal.defaults), journal.results, journal.trials), journal.looks


def check_same_study(study: Study, folder: Path) -> None:
    """Whether the study may go on in its folder; nothing is written. Raises OtherStudyError, see `open_journal`."""
    journal = Journal(folder, read_only=True)
    if journal.study is not None and journal.results:
        _check_same(as_begun(study, journal.defaults), folder, journal.study["protocol"])


def _check_same(study: Study, folder: Path, before: Mapping[str, Any]) -> None:
    if before == study.protocol():
        return
    differences = describe_difference(before, study.protocol())
    raise OtherStudyError(
        f"study {study.name!r} must be the one that {str(folder)!r} holds, got other contents:\n"
        + "".join(f"  {difference}\n" for difference in differences)
        + "Choose: give the study another name; keep it elsewhere with --storage; "
        "or run it here as it is now with --replace (results of runs that are the same are used)."
    )


def _keep_study_file(study: Study, folder: Path) -> None:
    """Write the study file into the folder, whole or not at all, where it has changed."""
    path, partial = folder / "study.yaml", folder / ".study.yaml"
    if not path.exists() or path.read_text(encoding="utf-8") != study.text:
        partial.write_text(study.text, encoding="utf-8")
        partial.replace(path)


def stored_studies(storage: Path) -> list[Path]:
    """The folders of the studies that were run in a storage, those in the archive included."""
    bring_all(storage)
    return sorted(path.parent for path in storage.glob("*/study.yaml") if not path.parent.name.startswith("."))


def begun_folder(name_or_path: str, storage: str) -> Path:
    """The folder of a study that was run there, whatever is in it by now.

    Raises:
        ValueError: there is none of that name; lists those that there are.
    """
    name = name_or_path
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        name = read_study(name_or_path).name
    names = [folder.name for folder in stored_studies(storage_folder(storage))]
    if name in names:
        return study_folder(storage, name)
    there = f"{nearest(name, names)} There: {', '.join(names)}." if names else storages_nearby()
    raise ValueError(f"STUDY must be one that was run in {storage!r}, got {name!r}.{there}")


def stored_study(name_or_path: str, storage: str) -> tuple[Study, Path]:
    """The study of that name as it was last run in this storage, else as its file says; and its folder.

    Where a file says another study than the one that was run, a note of the study tells how they differ.

    Raises:
        setsweep.sweeps.study.text.errors.StudyError: neither is there, or it has errors.
    """
    as_stored = study_folder(storage, name_or_path) / "study.yaml" if "/" not in name_or_path else None
    if as_stored is not None and as_stored.exists():
        return read_study(as_stored), as_stored.parent
    if as_stored is not None and not Path(name_or_path).exists() and name_or_path not in bundled_studies():
        begun_folder(name_or_path, storage)  # which names the studies that there are
    study = read_study(name_or_path)
    folder = study_folder(storage, study.name)
    stored = folder / "study.yaml"
    if stored.exists() and (differences := _differences(stored.read_text(encoding="utf-8"), study.text)):
        shown = "; ".join(differences[:_SHOWN]) + ("; ..." if len(differences) > _SHOWN else "")
        note = f"{study.path} is not as it was last run in {str(folder)!r}: {shown}."
        study = dataclasses.replace(study, notes=(*study.notes, note))
    return study, folder


def _differences(before: str, now: str) -> list[str]:
    return describe_difference(read_yaml(before)[0], read_yaml(now)[0])


def _no_results(study: Study, folder: Path, storage: str) -> str:
    if (folder / FILE).exists():
        return f"study {study.name!r} must have a result to report, got none so far in {str(folder)!r}."
    return f"--storage must be a folder in which {study.name!r} was run, got {storage!r}.{storages_nearby()}"


def storages_nearby() -> str:
    """`` Results are kept in 'a', 'b'.``, those below the current folder; empty where there are none."""
    found = sorted({path.parent.parent for depth in ("*", "*/*", "*/*/*") for path in Path().glob(f"{depth}/{FILE}")})
    return f" Results are kept in {', '.join(repr(str(path)) for path in found[:_SHOWN])}." if found else ""
