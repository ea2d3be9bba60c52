"""The right to write a study: on this machine, and where the study lies in an object store, there as well.

An object store has no locks. The writer's lease is an object that is written on condition that it is still the one that
was there before, so of two who take it one wins, and one who has been away for too long finds it changed. What is
written in spite of that changes nothing: see `remote.segments`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setsweep.sweeps.execution.errors import StorageLostError
from setsweep.sweeps.records.lease import FILE, WRITER, JournalError, Lease, Say, described, wait_for
from setsweep.sweeps.records.remote.segments import TakenOverError, append, bring_journal, put_together
from setsweep.sweeps.records.remote.working_copy import bringing, copy_name, origin, publish, unreached
from setsweep.trainables.places import StoredPath


def held(folder: Path, *, take_over: bool = False, say: Say | None = None) -> Lease:
    """The right to write the journal of a study, see `records.lease.Lease`."""
    if origin(folder) is None:
        return Lease(folder, take_over=take_over, say=say)
    folder.mkdir(parents=True, exist_ok=True)
    with bringing(folder):
        return StoredLease(folder, take_over=take_over, say=say)


class StoredLease(Lease):
    """A lease on a working copy, and on what it is a copy of; the two journals are the same when it is there."""

    def __init__(self, folder: Path, *, take_over: bool = False, say: Say | None = None) -> None:
        place = origin(folder)
        assert place is not None
        self._place, self._study, self._lost = place, folder.name, False
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        self._own = {"host": socket.gethostname(), "pid": os.getpid(), "since": since, "copy": copy_name(folder)}
        super().__init__(folder, take_over=take_over, say=say)
        try:
            self._tag = self._take(take_over, say or (lambda text: None))
            self._begin()
        except BaseException as error:
            super().close()
            if isinstance(error, OSError | ModuleNotFoundError):
                raise JournalError(unreached(place, error)) from None
            raise

    def check(self) -> None:
        """See `Lease.check`."""
        super().check()
        if self._lost:
            raise StorageLostError(self._taken())

    def append(self, lines: bytes) -> None:
        """See `Lease.append`; they are in the store, too, when this returns."""
        super().append(lines)
        try:
            append(self._place, self._end, lines)
        except TakenOverError:
            raise StorageLostError(self._taken()) from None
        except OSError as error:
            raise JournalError(unreached(self._place, error)) from None
        self._end += len(lines)

    def close(self) -> None:
        """See `Lease.close`."""
        super().close()
        try:
            if not self._lost and self._writer.tag() == self._tag:
                self._writer.unlink(missing_ok=True)
        except OSError:
            return  # it expires

    @property
    def _writer(self) -> StoredPath:
        return self._place / WRITER

    def _take(self, take_over: bool, say: Say) -> str:
        """Have the lease in the store; gives its tag."""
        mine = json.dumps(self._own).encode()
        try:
            return self._writer.create(mine)
        except FileExistsError:
            pass
        content, tag = self._writer.read()
        writer = _parsed(content)
        if writer.get("copy") != self._own["copy"]:  # one that was here has died: we hold this copy's lock
            refused = f"{self._place.url!r}"
            wait_for(writer, lambda: _parsed(self._writer.read()[0]), refused, self._study, say)
        try:
            return self._writer.replace(mine, tag)
        except FileExistsError:
            raise JournalError(
                f"storage must be written by one sweep at a time, got {self._place.url!r}, which another one has taken."
            ) from None

    def _begin(self) -> None:
        """Bring the journal, send what an earlier sweep could not send, and leave a line that others can't pass."""
        path = self.folder / FILE
        self._end = bring_journal(path, self._place, self._place.below())
        journal = path.read_bytes()
        whole = journal[: journal.rfind(b"\n") + 1]
        os.truncate(path, len(whole))
        put_together(self._place, whole[: self._end])
        if unsent := whole[self._end :]:
            append(self._place, self._end, unsent)
            self._end = len(whole)
        self.append(json.dumps({"record": "writer", **self._own}, separators=(",", ":")).encode() + b"\n")

    def _renew(self) -> None:
        super()._renew()
        if not hasattr(self, "_tag") or self._lost:
            return
        try:
            said = {**self._own, "renewed": self._said["renewed"]}
            self._tag = self._writer.replace(json.dumps(said).encode(), self._tag)
        except FileExistsError:
            self._look()
        except OSError:
            return  # the store is away; the journal tells if it stays away

    def _look(self) -> None:
        """Whether the lease is another's, or one of ours of which no answer has come."""
        try:
            content, tag = self._writer.read()
        except FileNotFoundError:
            self._lost = True
        except OSError:
            return
        else:
            self._lost = not self._own.items() <= _parsed(content).items()
            self._tag = self._tag if self._lost else tag

    def _taken(self) -> str:
        try:
            by = described(_parsed(self._writer.read()[0]))
        except OSError:
            by = "an unknown process"
        return (
            f"{self._place.url} must be written by one sweep at a time, got it taken over by {by}, after this one had "
            "given no sign of life. What it has recorded until then is there."
        )


def _parsed(content: bytes) -> Mapping[str, Any]:
    try:
        writer = json.loads(content)
    except ValueError:
        return {}
    return writer if isinstance(writer, dict) else {}


def adopt(folder: Path) -> None:
    """A study that was put into a working copy goes to the object store, whole; nothing where that is not one.

    Raises:
        JournalError: it can't; then it is not here either.
    """
    if origin(folder) is None:
        return
    try:
        with held(folder):
            publish(folder, large=True)
    except BaseException:
        shutil.rmtree(folder)
        raise
