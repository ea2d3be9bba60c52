"""Which process of this machine is writing a study's journal."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from pathlib import Path

from setsweep.sweeps.records.lease import FILE, WRITER


def writing_process(folder: Path) -> int | None:
    """The process that runs the study of a folder on this machine; None: none does.

    What the file says counts only while the journal's lock is held: it outlives a process that was killed, and the
    number may be another process's by then.

    Raises:
        ValueError: it runs on another machine.
    """
    if not _is_locked(folder / FILE):
        return None
    try:
        writer = json.loads((folder / WRITER).read_text(encoding="utf-8"))
        process, host = int(writer["pid"]), str(writer["host"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if host != socket.gethostname():
        raise ValueError(f"the study in {str(folder)!r} must run on this machine, got process {process} on {host}.")
    return process


def _is_locked(journal: Path) -> bool:
    try:
        file = os.open(journal, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    else:
        return False
    finally:
        os.close(file)
