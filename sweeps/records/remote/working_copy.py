"""A working copy of a storage in an object store: what reads and writes a study does so in a folder of this machine.

What is read is brought from the store when a study is asked for. What is written goes there from the one process that
holds the study (see `remote.lease`): the journal record by record before a result counts (`remote.segments`), other
files within some seconds and at the end. Checkpoints, models and scores are written by slots, wherever they are, and
brought here when somebody needs them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setsweep.sweeps.records.lease import FILE, WRITER, JournalError
from setsweep.sweeps.records.remote.segments import JOURNAL, bring_journal
from setsweep.trainables.places import SCHEMES, StoredPath

ORIGIN = ".origin"  # in the folder of a working copy: the URL
COPY = ".copy"  # beside it: a name for this working copy
BROUGHT = ".brought.json"  # in a study's folder: what is the same here and there
LOCK = ".bringing"
LARGE = ("models", "scores")  # brought when they are asked for
OWN = (FILE, WRITER, BROUGHT, LOCK, "checkpoints", JOURNAL)  # of this copy, of that, or of no use elsewhere
PUBLISH_SECONDS = 10.0  # a third of what others believe a status file for
AT_ONCE = 16

Known = dict[str, tuple[str, int, int]]  # by name: the tag there; size and time of writing here


def is_stored(storage: str) -> bool:
    """Whether a storage is the URL of an object store."""
    return urllib.parse.urlsplit(storage).scheme in SCHEMES


def working_copy(url: str) -> Path:
    """The folder of a storage in an object store; made at the first time, and nothing is brought there yet."""
    parts = urllib.parse.urlsplit(url)
    if not re.fullmatch(r"[\w.-]+(@[\w.-]+)?", parts.netloc) or parts.query or parts.fragment:
        raise JournalError(f"--storage must be {parts.scheme}://BUCKET/NAME, got {url!r}.")
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    whole = f"{parts.scheme}://{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
    folder = Path(caches) / "setsweep" / "storages" / urllib.parse.quote(whole, safe="")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ORIGIN).exists():
            (folder / COPY).write_text(uuid.uuid4().hex)
            (folder / ORIGIN).write_text(whole)
    except OSError as error:
        raise JournalError(
            f"{folder} must be written to keep a working copy of {url}: {error.strerror}. "
            "XDG_CACHE_HOME says where such copies are."
        ) from None
    return folder


def origin(folder: Path) -> StoredPath | None:
    """Where a study's folder is a working copy of; None: it is the study itself."""
    mark = folder.parent / ORIGIN
    return StoredPath(mark.read_text().strip()) / folder.name if mark.exists() else None


def copy_name(folder: Path) -> str:
    """Names the working copy that a study's folder is in."""
    return (folder.parent / COPY).read_text().strip()


def bring(folder: Path, large: str | None = None) -> None:
    """Have a study's folder as the object store has it, where it is a working copy and nobody here is writing to it.

    Args:
        folder: of the study.
        large: "models" or "scores", if those are needed.

    Raises:
        JournalError: the store does not give it.
    """
    place = origin(folder)
    if place is None:
        return
    with _said(place):
        there = place.below()
        if not there:
            _put_aside(folder)
            return
        folder.mkdir(exist_ok=True)
        with bringing(folder):
            if large is not None:
                _bring_files(folder, place, there, lambda first: first == large)
            elif not _is_written(folder):
                bring_journal(folder / FILE, place, there)
                _bring_files(folder, place, there, lambda first: first not in (*LARGE, *OWN))


def _put_aside(folder: Path) -> None:
    """A study that was brought once, and is in the object store no more, is none here either."""
    if (folder / BROUGHT).exists() and not _is_written(folder):
        folder.rename(folder.with_name(f".gone-{folder.name}-{time.time_ns()}"))


def bring_all(storage: Path) -> None:
    """Have every study of a storage as the object store has it, where it is a working copy."""
    mark = storage / ORIGIN
    if mark.exists():
        place = StoredPath(mark.read_text().strip())
        with _said(place):
            names = {name.partition("/")[0] for name in place.below() if name.endswith("/study.yaml")}
        for name in sorted(names):
            bring(storage / name)


@contextlib.contextmanager
def bringing(folder: Path) -> Iterator[None]:
    """One process at a time brings a study here, or begins to write it."""
    with (folder / LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def publish(folder: Path, *, large: bool = False) -> None:
    """Have the object store hold what a study's folder does, but for the journal; by who holds the study.

    Args:
        folder: of the study.
        large: models and scores as well, which are not from there.
    """
    place = origin(folder)
    if place is None:
        return
    known = _known(folder)
    files = (path for path in folder.rglob("*") if path.is_file() and _goes(path, folder, large=large))
    here = {str(path.relative_to(folder)): path for path in files}
    changed = {name: path for name, path in here.items() if known.get(name, ("", 0, 0))[1:] != _look(path)}

    def put(each: tuple[str, Path]) -> None:
        name, path = each
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            look = _look(path)
            known[name] = ((place / name).write_bytes(path.read_bytes()), *look)

    with _said(place), ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(put, changed.items()))
        for name in known.keys() - here.keys():
            if name.partition("/")[0] not in LARGE:
                (place / name).unlink(missing_ok=True)
                del known[name]
    _note(folder, known)


@contextlib.contextmanager
def published(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """What is written into a study's folder goes to the object store meanwhile and at the end; said if it can't."""
    over = threading.Event()

    def now_and_then() -> None:
        while True:
            with contextlib.suppress(JournalError):  # another time
                publish(folder)
            if over.wait(PUBLISH_SECONDS):
                return

    if origin(folder) is None:
        yield
        return
    thread = threading.Thread(target=now_and_then, name="publish", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        try:
            publish(folder)
        except JournalError as error:
            say(f"{error} The report is in {folder} alone; results are in the store, and the same command brings all.")


def _bring_files(
    folder: Path, place: StoredPath, there: dict[str, tuple[str, int]], wanted: Callable[[str], bool]
) -> None:
    known = _known(folder)
    chosen = {name: tag for name, (tag, _) in there.items() if wanted(name.partition("/")[0])}

    def get(each: tuple[str, str]) -> None:
        name, tag = each
        path = folder / name
        if path.resolve().is_relative_to(folder.resolve()) and known.get(name) != (tag, *_look(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.brought")
            content, tag = (place / name).read()
            partial.write_bytes(content)
            partial.replace(path)
            known[name] = (tag, *_look(path))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(get, chosen.items()))
    for name in [name for name in known if wanted(name.partition("/")[0]) and name not in chosen]:
        (folder / name).unlink(missing_ok=True)
        del known[name]
    _note(folder, known)


def _goes(path: Path, folder: Path, *, large: bool) -> bool:
    """Whether a file is the study's, and not one of this copy, or in the middle of being written."""
    first = path.relative_to(folder).parts[0]
    if first in OWN or (first in LARGE and not large):
        return False
    return re.search(rf"\.partial$|\.brought$|^\.({FILE}|{WRITER})\.", path.name) is None


def _is_written(folder: Path) -> bool:
    """Whether a process of this machine writes the study here: then it is what the store has, and newer."""
    try:
        with (folder / FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _look(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _known(folder: Path) -> Known:
    try:
        return {name: tuple(each) for name, each in json.loads((folder / BROUGHT).read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _note(folder: Path, known: Known) -> None:
    partial = folder / f"{BROUGHT}.partial"
    partial.write_text(json.dumps(known))
    partial.replace(folder / BROUGHT)


@contextlib.contextmanager
def _said(place: StoredPath) -> Iterator[None]:
    try:
        yield
    except (OSError, ModuleNotFoundError) as error:
        raise JournalError(unreached(place, error)) from None


def unreached(place: StoredPath, error: Exception) -> str:
    """What is said of an object store that does not do what it should."""
    why = error.strerror if isinstance(error, OSError) else str(error)
    return f"--storage must be an object store that can be read and written, got {place.url!r}: {why}."
