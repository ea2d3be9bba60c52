"""Who writes a study's journal: one process at a time, by a lock of the file system and a lease beside the journal.

The lock keeps processes of one machine apart, and goes with a process that dies. Between machines it may be missing, or
stay with a machine that is gone. So the writer leaves a lease and renews it every few seconds. Whoever finds the lease
of another watches it by its own clock alone: no clock is compared with another's, so none needs to be right. What is
taken over gets a new file under the journal's name: a writer that comes back finds that its file is not the journal any
more, and ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from setsweep.sweeps.execution.errors import StorageLostError

FILE = "journal.jsonl"
WRITER = "writer.json"
RENEW_SECONDS = 5.0
EXPIRE_SECONDS = 30.0  # without a renewal; a writer whose clock goes at a fifth of the speed keeps its lease
BOOT = Path("/proc/sys/kernel/random/boot_id")

Say = Callable[[str], None]


class JournalError(ValueError):
    """The journal can't be opened or written; the message says what to do."""


class Lease:
    """The right to write a study's journal, until it is closed.

    Args:
        folder: of the study; made where it is missing.
        take_over: take the study from a writer that holds the lock, if it gives no sign of life.
        say: told before a wait.

    Attributes:
        file: the journal, open for this process alone.

    Raises:
        JournalError: the folder can't be written, or another process is writing; says which one.
    """

    def __init__(self, folder: Path, *, take_over: bool = False, say: Say | None = None) -> None:
        self.folder, self.path = folder, folder / FILE
        self.file = _open(self.path)
        try:
            self._acquire(take_over, say or (lambda text: None))
        except BaseException:
            os.close(self.file)
            raise
        flush_entry(folder)
        self._said: dict[str, Any] = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "machine": machine(),
            "renewed": 0,
        }
        self._closing = threading.Event()
        self._renew()
        self._renewing = threading.Thread(target=self._keep_renewing, name="lease", daemon=True)
        self._renewing.start()

    def check(self) -> None:
        """Whether the journal is still ours. Raises StorageLostError: it was taken over, removed or replaced."""
        if self._holds():
            return
        if (writer := _read(self.folder)) is not None and not self._is_ours(writer):
            raise StorageLostError(
                f"{self.path} must be written by one sweep at a time, got it taken over by {described(writer)}, after "
                "this one had given no sign of life. What it has recorded until then is there."
            )
        raise StorageLostError(
            f"{self.path} must stay where it is while the study runs, got it removed or replaced: what is trained "
            "from now on could not be found again. Put it back, or begin anew with the same command."
        )

    def append(self, lines: bytes) -> None:
        """Write to the end of the journal; on disk when this returns. Raises JournalError: it can't be written."""
        rest = lines
        try:
            while rest:
                rest = rest[os.write(self.file, rest) :]
            os.fsync(self.file)
        except OSError as error:
            raise JournalError(f"{self.path}: must be written to go on, got: {error.strerror}.") from None

    def close(self) -> None:
        """Give the right back."""
        self._closing.set()
        self._renewing.join()
        if self._holds():
            with contextlib.suppress(OSError):
                (self.folder / WRITER).unlink(missing_ok=True)
        os.close(self.file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _acquire(self, take_over: bool, say: Say) -> None:
        held = not _lock(self.file, self.folder)
        writer = _read(self.folder)
        if held or (writer is not None and writer.get("machine", machine()) != machine()):
            told = say if take_over or not held else None  # locks may not reach from another machine to this one
            wait_for(writer, lambda: _read(self.folder), repr(str(self.folder)), self.folder.name, told)
        else:
            return
        taken = _copied(self.path, self.file)
        os.close(self.file)
        self.file = taken

    def _holds(self) -> bool:
        """Whether the file under the journal's name is the one that is open here."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self.file))
        except OSError:
            return False

    def _is_ours(self, writer: Mapping[str, Any]) -> bool:
        return all(writer.get(name) == self._said[name] for name in ("host", "pid", "machine"))

    def _keep_renewing(self) -> None:
        while not self._closing.wait(RENEW_SECONDS):
            if self._holds():
                self._renew()

    def _renew(self) -> None:
        self._said["renewed"] += 1
        partial = self.folder / f".{WRITER}.{os.getpid()}"
        try:
            partial.write_text(json.dumps(self._said), encoding="utf-8")
            partial.replace(self.folder / WRITER)
        except OSError:  # a full disk is told by the journal
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


def machine() -> str:
    """Names the running system: file locks hold between all processes of one, in whatever container."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()


def flush_entry(folder: Path) -> None:
    """A new file is safe from a power cut when its entry in the folder is, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise JournalError(
            f"storage must be a folder that can be written, got {str(path.parent)!r}: {error.strerror}."
        ) from None


def _lock(file: int, folder: Path) -> bool:
    """Whether the file is now locked for this process; else another has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        rule = "storage must be on a file system with locks"
        raise JournalError(f"{rule}, got {str(folder)!r}: {error.strerror}.") from None
    return True


def wait_for(
    writer: Mapping[str, Any] | None,
    read: Callable[[], Mapping[str, Any] | None],
    place: str,
    study: str,
    say: Say | None,
) -> None:
    """Return when a writer has given no sign of life for long enough.

    Args:
        writer: what it has said last.
        read: what it says now.
        place: what it writes, in quotes.
        study: its name.
        say: told before a wait; None: it is not to be waited for.

    Raises:
        JournalError: it has given one, or it is not to be waited for.
    """
    name = described(writer)
    refused = f"storage must be written by one sweep at a time, got {place}, which another one is writing"
    mend = f"'setsweep stop {study}' on its machine ends it; where that machine or process hangs, --take-over"
    if say is None:
        raise JournalError(f"{refused} ({name}). {mend} takes the study when it gives no sign of life.")
    say(f"{place} was left by {name}: taken over if it gives no sign of life for {EXPIRE_SECONDS:g} s.")
    deadline = time.monotonic() + EXPIRE_SECONDS
    while time.monotonic() < deadline:
        if read() != writer:
            raise JournalError(f"{refused} ({name}), and is alive. 'setsweep stop {study}' there ends it.")
        time.sleep(min(0.5, EXPIRE_SECONDS / 10))


def _copied(path: Path, file: int) -> int:
    """A new file under the journal's name that holds the same, open and locked: whoever has the old one has lost it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new = os.open(beside, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o644)
        fcntl.flock(new, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(os.dup(file), "rb") as old, os.fdopen(os.dup(new), "ab") as copy:
            old.seek(0)
            shutil.copyfileobj(old, copy)
        os.fsync(new)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise JournalError(f"{path}: must be written to be taken over, got: {error.strerror}.") from None
    return new


def _read(folder: Path) -> dict[str, Any] | None:
    """What the writer says of itself; None: there is none, or nothing that can be read."""
    try:
        writer = json.loads((folder / WRITER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return writer if isinstance(writer, dict) else None


def described(writer: Mapping[str, Any] | None) -> str:
    """A writer, as errors name it."""
    if writer is None or not {"pid", "host", "since"} <= writer.keys():
        return "an unknown process"
    return f"process {writer['pid']} on {writer['host']}, since {writer['since']}"
