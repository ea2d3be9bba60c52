"""The last lines that a run writes to the screen, kept for those who ask why it failed; they are shown as before."""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

MOST_LINES = 200
MOST_CHARACTERS = 2000  # of a line


@contextmanager
def last_lines(most: int = MOST_LINES) -> Iterator[Callable[[], str]]:
    """Within it, what Python code writes to stdout and stderr is kept too; gives what tells the last lines of it.

    Args:
        most: lines that are kept.
    """
    kept: deque[str] = deque(maxlen=most)
    out, error = _Kept(sys.stdout, kept), _Kept(sys.stderr, kept)
    with redirect_stdout(out), redirect_stderr(error):
        yield lambda: "".join(f"{line}\n" for line in [*kept, *filter(None, (out.rest, error.rest))])


class _Kept(io.TextIOBase):
    """A stream that hands on what is written to it, and keeps the lines."""

    def __init__(self, stream: TextIO, kept: deque[str]) -> None:
        self._stream, self._kept = stream, kept
        self.rest = ""  # of a line that has no end yet

    def write(self, text: str) -> int:
        *lines, rest = (self.rest + text).split("\n")
        self._kept.extend(line[:MOST_CHARACTERS] for line in lines)
        self.rest = rest[-MOST_CHARACTERS:]
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding
