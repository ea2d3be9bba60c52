"""A study's results as one file, to keep or to hand on: a ZIP file with what its folder holds.

A parcel may come from anybody. What it would write is decided here and not by it: files of known kinds in known places
below the study's own folder, no links, no program, no more than there is room for; and the folder gets its name when
all of it is there and could be read.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE
from setsweep.sweeps.records.remote.lease import adopt
from setsweep.sweeps.records.remote.working_copy import bring
from setsweep.sweeps.study.reader import NAME, read_study

MANIFEST = "setsweep.json"
VERSION = 1
ENDING = ".setsweep.zip"
STUDY_FILE = "study.yaml"
FOLDERS = ("report", "runs", "logs", "models", "scores")
SMALL_FOLDERS = ("report", "runs", "logs")
_ENDINGS = (".jsonl", ".yaml", ".json", ".txt", ".md", ".csv", ".tex", ".html", ".png", ".svg", ".pdf", ".pt")
_PACKED = (".png", ".pt")  # which deflating makes no smaller
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal studies give equal files


class ParcelError(ValueError):
    """A file that is no parcel, or one that would do what a parcel must not."""


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """What a parcel says of itself."""

    study: str
    results: int


def write_parcel(folder: Path, out: Path, *, folders: tuple[str, ...] = FOLDERS) -> Parcel:
    """Write the results of a study into one file; a sweep may go on meanwhile.

    Args:
        folder: of the study.
        out: the file; there must be none.
        folders: of the study's folders those that go along.

    Raises:
        ParcelError: the file is there, or can't be written.
    """
    if out.exists():
        raise ParcelError(f"--out must be a new file, got {str(out)!r}, which is there.")
    for name in folders:
        bring(folder, name)
    journal = (folder / FILE).read_bytes()
    journal = journal[: journal.rfind(b"\n") + 1]  # without a line that is being written
    parcel = Parcel(study=folder.name, results=len(Journal(folder, read_only=True).results))
    files = [path for name in folders for path in sorted((folder / name).rglob("*")) if _goes_along(path)]
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(partial, "w") as file:
            _add(file, MANIFEST, json.dumps({"setsweep": VERSION, **vars(parcel)}).encode())
            _add(file, FILE, journal)
            for path in (folder / STUDY_FILE, *files):
                _add(file, path.relative_to(folder).as_posix(), path.read_bytes())
        partial.rename(out)
    except OSError as error:
        raise ParcelError(f"--out must be a file that can be written, got {str(out)!r}: {error.strerror}.") from None
    finally:
        partial.unlink(missing_ok=True)
    return parcel


def _goes_along(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.suffix in _ENDINGS and path.name[0] != "."


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(_PACKED) else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    file.writestr(entry, content)


def read_parcel(path: Path, storage: Path) -> tuple[Parcel, Path]:
    """Put the study of a parcel into a storage; gives what it says of itself and the study's folder.

    Raises:
        ParcelError: no parcel, one with other files than a study has, a study that can't be read, or one of a name that
            the storage has already. Nothing is left of it then.
    """
    with _opened(path) as file:
        parcel = _manifest(file, path)
        entries = [entry for entry in file.infolist() if entry.filename != MANIFEST]
        _check(entries, path)
        folder = storage / parcel.study
        bring(folder)
        if folder.exists():
            raise ParcelError(f"study {parcel.study!r} must be new to {str(storage)!r}, got one that is there already.")
        try:
            storage.mkdir(parents=True, exist_ok=True)
            _check_room(entries, storage)
            with tempfile.TemporaryDirectory(prefix=".importing-", dir=storage) as beside:
                made = Path(beside, parcel.study)
                for entry in entries:
                    _extract(file, entry, made / entry.filename)
                _check_study(made, parcel, path)
                made.rename(folder)
                adopt(folder)
        except OSError as error:
            raise ParcelError(
                f"--storage must be a folder that can be written, got {str(storage)!r}: {error}."
            ) from None
    return parcel, folder


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except FileNotFoundError:
        raise ParcelError(f"FILE must be one that 'setsweep export' has written, got no file {str(path)!r}.") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise _no_parcel(path, error) from None


def _no_parcel(path: Path, why: object) -> ParcelError:
    return ParcelError(f"FILE must be one that 'setsweep export' has written, got {str(path)!r}: {why}.")


def _manifest(file: zipfile.ZipFile, path: Path) -> Parcel:
    try:
        said: Mapping[str, Any] = json.loads(file.read(MANIFEST))
        version, study, results = said["setsweep"], said["study"], int(said["results"])
    except (KeyError, TypeError, ValueError):
        raise _no_parcel(path, f"it has no {MANIFEST} that says which study it is of") from None
    if version != VERSION:
        raise _no_parcel(path, f"its form is number {version!r}, and this version of Setsweep knows number {VERSION}")
    try:
        NAME.rule.check(study)
    except ValueError as error:
        raise _no_parcel(path, f"its study {str(error).rstrip('.')}") from None
    return Parcel(study=study, results=results)


def _check(entries: list[zipfile.ZipInfo], path: Path) -> None:
    names = [entry.filename for entry in entries]
    if wrong := next((entry.filename for entry in entries if not _is_expected(entry)), None):
        raise _no_parcel(path, f"it holds {wrong!r}, which no study has")
    if len(set(names)) < len(names):
        raise _no_parcel(path, "it holds a file twice")
    if missing := {FILE, STUDY_FILE} - set(names):
        raise _no_parcel(path, f"it holds no {min(missing)}")


def _is_expected(entry: zipfile.ZipInfo) -> bool:
    """Whether a study may have such a file: a plain one, of a known kind, below its own folder."""
    name, kind = entry.filename, entry.external_attr >> 16
    if name in (FILE, STUDY_FILE):
        return not stat.S_ISLNK(kind)
    place = PurePosixPath(name)
    if str(place) != name or "\\" in name or not name.isprintable() or stat.S_IFMT(kind) not in (0, stat.S_IFREG):
        return False
    inside = len(place.parts) > 1 and place.parts[0] in FOLDERS and not any(p.startswith(".") for p in place.parts)
    return inside and place.suffix in _ENDINGS


def _check_room(entries: list[zipfile.ZipInfo], storage: Path) -> None:
    needed, free = sum(entry.file_size for entry in entries), shutil.disk_usage(storage).free
    if needed > free:
        raise ParcelError(f"--storage must have room for {needed:,} bytes, got {str(storage)!r} with {free:,}.")


def _extract(file: zipfile.ZipFile, entry: zipfile.ZipInfo, to: Path) -> None:
    """Never more than the entry says that it holds: a ZIP file is read no further."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with file.open(entry) as packed, to.open("xb") as unpacked:
        shutil.copyfileobj(packed, unpacked)


def _check_study(folder: Path, parcel: Parcel, path: Path) -> None:
    """Whether what has been unpacked is the study that it says, with its results."""
    try:
        name, results = read_study(folder / STUDY_FILE).name, len(Journal(folder, read_only=True).results)
    except ValueError as error:
        raise _no_parcel(path, str(error).rstrip(".")) from None
    if (name, results) != (parcel.study, parcel.results):
        rule = f"it says {parcel.results} results of {parcel.study!r}"
        raise _no_parcel(path, f"{rule} and holds {results} of {name!r}")
