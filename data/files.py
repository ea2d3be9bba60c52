"""Where data files lie, and reading them so that a missing or damaged one is said, never trained on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError

T = TypeVar("T")
Root = str | Path | None

ADVICE = "Set SETSWEEP_DATA or data.root to the folder that holds it, or ask for the download with data.download: true."


class DataError(ValueError):
    """A file of a data set is missing or damaged; the message says which, and what to do."""


def data_root(root: Root) -> Path:
    """The folder of the data files: the argument, else SETSWEEP_DATA, else ~/.cache/setsweep.

    A relative one is meant from where the process is now; image files are read later, by processes that are elsewhere.
    """
    return Path(root or os.environ.get("SETSWEEP_DATA") or "~/.cache/setsweep").expanduser().absolute()


def read_file(path: Path) -> bytes:
    """The bytes of a data file.

    Raises:
        DataError: there is no such file, or it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"Data file {str(path)!r} must exist, found none. {ADVICE}") from None
    except OSError as error:
        raise DataError(f"Data file {str(path)!r} must be readable, got {error.strerror}. {ADVICE}") from error


def check_md5(content: bytes, md5: str, path: Path) -> None:
    """Raise DataError unless the content has this MD5 (a guard against damage, not against malice)."""
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise damaged(path, f"MD5 {md5}", f"{found} ({len(content)} bytes)")


def damaged(path: Path, rule: str, found: str) -> DataError:
    """The error for a file that is there but is not what it must be."""
    return DataError(f"Data file {str(path)!r} must have {rule}, got {found}: it is damaged. Remove it. {ADVICE}")


def read_or_download(read: Callable[[], T], fetch: Callable[[], None], *, source: str, download: bool) -> T:
    """What `read` gives; where that fails on the files and a download is asked for, after `fetch`.

    Raises:
        DataError: the files are missing or damaged, or could not be downloaded.
    """
    try:
        return read()
    except DataError:
        if not download:
            raise
    try:
        fetch()
    except (URLError, OSError, RuntimeError) as error:
        raise DataError(f"Download of {source} must succeed, got: {error}. Fetch it by hand, or try again.") from error
    return read()
