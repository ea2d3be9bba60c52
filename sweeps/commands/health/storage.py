"""Whether a storage keeps what it is given: written, flushed, locked, and seen by whom."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from setsweep.sweeps.commands.health.finding import Finding
from setsweep.sweeps.records.archive import size_text
from setsweep.trainables.places import StoredPath

SHARED = ("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "9p", "virtiofs")
IN_MEMORY = ("tmpfs", "ramfs")
LEAST_BYTES = 2**30
SLOW_FLUSH, WRONG_CLOCK = 0.2, 2.0  # seconds
MOUNTS = Path("/proc/self/mounts")


def check_object_store(storage: str) -> Iterator[Finding]:
    """What an object store does with a small object, which is gone afterwards; and what it must refuse.

    Args:
        storage: its URL.
    """
    path = StoredPath(storage) / f".setsweep-doctor-{uuid.uuid4().hex}"
    try:
        started = time.perf_counter()
        tag = path.create(b"")
        seconds = time.perf_counter() - started
        refused = _refuses(path.create, b"") and path.replace(b"new", tag) != tag and _refuses(path.replace, b"", tag)
        path.unlink()
    except (OSError, ImportError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        mend = "Its variables (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...) must be set here and on every node."
        yield Finding(of="storage", state="wrong", said=f"{storage} can't be written: {why}.", mend=mend)
        return
    yield Finding(of="storage", said=f"{storage} takes an object in {1000 * seconds:.2g} ms")
    if refused:
        yield Finding(of="storage", said="its conditional writes keep a second writer out")
    else:
        mend = "Choose one that knows If-None-Match and If-Match, as S3 does, or run each study from one machine alone."
        said = "its conditional writes do not keep a second writer out."
        yield Finding(of="storage", state="wrong", said=said, mend=mend)


def _refuses(write: Callable[..., str], *arguments: object) -> bool:
    try:
        write(*arguments)
    except FileExistsError:
        return True
    return False


def check_storage(folder: Path) -> Iterator[Finding]:
    """What the folder's disk does with a small file; the folder is left as it was.

    Args:
        folder: of the storage; where it is not there yet, the nearest one above it is looked at.
    """
    place = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".setsweep-doctor-") as file:
            yield _seen_by(place)
            yield _flush(file.fileno())
            yield _lock(Path(file.name))
            yield from _clock(Path(file.name))
    except OSError as error:
        mend = "Choose another --storage, or have its owner let you write."
        yield Finding(of="storage", state="wrong", said=f"{place} can't be written: {error.strerror}.", mend=mend)
        return
    free = shutil.disk_usage(place).free
    little = free < LEAST_BYTES
    yield Finding(
        of="storage",
        state="note" if little else "well",
        said=f"{size_text(free)} free",
        mend="'setsweep archive STUDY --thin' removes models and scores." if little else "",
    )


def _seen_by(place: Path) -> Finding:
    kind = file_system(place)
    if kind in IN_MEMORY:
        mend = "Choose a --storage on a disk."
        return Finding(of="storage", state="note", said=f"{place} is in memory ({kind}): a restart ends it.", mend=mend)
    seen = "seen by all that mount it" if kind in SHARED or kind.startswith("fuse") else "of this machine alone"
    return Finding(of="storage", said=f"{place} is a folder on {kind or 'an unknown file system'}, {seen}")


def _flush(file: int) -> Finding:
    began = time.perf_counter()
    os.write(file, b"setsweep")
    os.fsync(file)
    seconds = time.perf_counter() - began
    if seconds > SLOW_FLUSH:
        mend = "Every result waits for that: choose a --storage that is nearer, or have the disk looked at."
        return Finding(of="storage", state="note", said=f"a flush to disk takes {seconds:.1f} s", mend=mend)
    return Finding(of="storage", said=f"a flush to disk takes {1000 * seconds:.2g} ms")


def _lock(path: Path) -> Finding:
    """Whether a lock that one has keeps another one out."""
    mend = "Mount it with locks (NFS: without 'nolock'), or never start a study twice."
    with path.open("rb") as first, path.open("rb") as second:
        try:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return Finding(of="storage", state="wrong", said=f"it has no locks: {error.strerror}.", mend=mend)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return Finding(of="storage", said="locks keep a second writer out")
    return Finding(of="storage", state="note", said="a lock does not keep a second writer out.", mend=mend)


def _clock(path: Path) -> Iterator[Finding]:
    """The clock of a storage on another machine, where that is not this one's."""
    os.utime(path)
    ahead = path.stat().st_mtime - time.time()
    if abs(ahead) > WRONG_CLOCK:
        said = f"the storage's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's."
        yield Finding(of="clock", state="note", said=said, mend="Have both set by NTP.")


def file_system(place: Path) -> str:
    """The kind of file system a folder is on, as Linux names it; empty where that is not known."""
    best, kind = "", ""
    try:
        lines = MOUNTS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, mounted, found, *_ = line.split(" ")
        mounted = mounted.replace("\\040", " ")
        if len(mounted) >= len(best) and Path(mounted) in (place.resolve(), *place.resolve().parents):
            best, kind = mounted, found
    return kind
