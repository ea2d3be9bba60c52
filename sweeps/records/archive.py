"""Studies put aside: they are listed when one asks for them, and what takes room may go.

A file in the study's folder is the mark: everything that takes a study by its name still finds it, and running it again
takes the mark away.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.remote.lease import held
from setsweep.sweeps.records.remote.working_copy import origin, publish
from setsweep.sweeps.records.study_folder import ARCHIVED
from setsweep.trainables.places import remove_folder

LARGE = ("models", "scores", "checkpoints")  # what no table needs


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something that lies in a study's folder.

    Args:
        path: a file or folder directly in it.
        files: how many it has.
        size: their bytes.
    """

    path: Path
    files: int
    size: int

    @property
    def described(self) -> str:
        """``models/: 3 files, 1.2 MiB``."""
        name = f"{self.path.name}/" if self.path.is_dir() else self.path.name
        files = f"{self.files} file{'' if self.files == 1 else 's'}, " if self.path.is_dir() else ""
        return f"{name}: {files}{size_text(self.size)}"


def contents(folder: Path, names: tuple[str, ...] | None = None) -> list[Part]:
    """What lies in a study's folder; of `names` alone, where they are given."""
    found = []
    for path in sorted(folder.iterdir()):
        if names is None or path.name in names:
            files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
            found.append(Part(path=path, files=len(files), size=sum(each.lstat().st_size for each in files)))
    return found


def size_text(size: int) -> str:
    """``1.2 MiB``."""
    for unit, bytes_ in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"


def results_of(folder: Path) -> int | None:
    """How many results a study has; None: its journal can't be read."""
    try:
        return len(Journal(folder, read_only=True).results)
    except ValueError:
        return None


def is_archived(folder: Path) -> bool:
    """Whether a study was put aside."""
    return (folder / ARCHIVED).exists()


def archive(folder: Path, *, thin: bool = False) -> None:
    """Put a study aside.

    Args:
        folder: of the study.
        thin: remove its models, scores and checkpoints.

    Raises:
        JournalError: a sweep is writing to it.
    """
    with held(folder):
        for part in contents(folder, LARGE) if thin else ():
            shutil.rmtree(part.path)
        (folder / ARCHIVED).write_text(time.strftime("%Y-%m-%d %H:%M:%S\n"), encoding="utf-8")
        publish(folder)
        if thin and (place := origin(folder)) is not None:
            for name in LARGE:
                remove_folder(place / name)


def unarchive(folder: Path) -> None:
    """Take a study out of the archive; nothing where it is in none."""
    (folder / ARCHIVED).unlink(missing_ok=True)
    publish(folder)


def delete(folder: Path) -> None:
    """Remove a study with all that is in its folder.

    It loses its name first: a removal that is cut short leaves no half of a study, but a hidden folder beside it.

    Raises:
        JournalError: a sweep is writing to it.
        ValueError: the folder is a link to another place, or can't be removed.
    """
    if folder.is_symlink():
        raise ValueError(
            f"STUDY must lie in the storage itself, got {str(folder)!r}, a link to {str(folder.resolve())!r}."
        )
    with held(folder):
        if (place := origin(folder)) is not None:
            place.remove_below()
        hidden = folder.rename(folder.with_name(f".deleted-{folder.name}-{time.time_ns()}"))
    try:
        shutil.rmtree(hidden)
    except OSError as error:
        raise ValueError(f"{hidden} must be a folder that can be removed, got: {error.strerror}.") from None
