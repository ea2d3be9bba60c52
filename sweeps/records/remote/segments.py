"""The journal in an object store: a row of objects, each with some of its lines, which are never changed.

An object is named by the bytes of the journal before it, and written on condition that there is none of that name: of
two who would go on from the same point only one can, and the other learns that it has lost the study. Many objects are
put together into the first when a writer begins; those that it covers are left out by whoever still finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setsweep.trainables.places import StoredPath

JOURNAL = "journal"
MANY = 100  # objects, to be put together
AT_ONCE = 16
_TRIES = 5


class TakenOverError(ValueError):
    """Another writer has gone on with the journal."""


def bring_journal(file: Path, place: StoredPath, there: Mapping[str, tuple[str, int]]) -> int:
    """Make a file the journal that an object store has; gives its bytes there.

    What the file has beyond that is left: lines that could not be written there any more.

    Args:
        file: made where it is missing.
        place: of the study.
        there: what lies below it, see `StoredPath.below`.
    """
    for _ in range(_TRIES):
        try:
            return _bring(file, place, _row(there))
        except FileNotFoundError:  # put together meanwhile
            there = place.below()
    raise FileNotFoundError(file)


def append(place: StoredPath, start: int, lines: bytes) -> None:
    """Write lines that follow the first `start` bytes of the journal. Raises TakenOverError: something else does."""
    segment = _segment(place, start)
    try:
        segment.create(lines)
    except FileExistsError:
        if segment.read_bytes() != lines:  # else the answer to an earlier attempt of this one was lost
            raise TakenOverError from None


def put_together(place: StoredPath, journal: bytes) -> None:
    """Have one object in place of many; by the writer."""
    row = _row(place.below())
    if len(row) > MANY:
        _segment(place, 0).write_bytes(journal)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda start: _segment(place, start).unlink(missing_ok=True), [each for each in row if each]))


def _bring(file: Path, place: StoredPath, row: Mapping[int, int]) -> int:
    """The file is changed where it differs from the row and no more."""
    file.touch()
    with file.open("r+b") as journal, ThreadPoolExecutor(AT_ONCE) as pool:
        mine = journal.read()
        last = max((start for start, size in row.items() if start + size <= len(mine)), default=0)
        same = last if last in row and _is(place, last, mine[last : last + row[last]]) else 0
        starts = [start for start in row if start >= same]
        lines = b""
        for start, more in zip(starts, pool.map(lambda each: _segment(place, each).read_bytes(), starts), strict=True):
            if start == same + len(lines):  # else the one before it has it, which was put together meanwhile
                lines += more
        if mine[same : same + len(lines)] != lines:
            journal.truncate(same)
            journal.seek(same)
            journal.write(lines)
    return same + len(lines)


def _is(place: StoredPath, start: int, lines: bytes) -> bool:
    return _segment(place, start).read_bytes() == lines


def _row(there: Mapping[str, tuple[str, int]]) -> dict[int, int]:
    """Bytes of each object that counts, by the bytes before it: each begins where the one before it ends."""
    sizes = {
        int(name.removeprefix(f"{JOURNAL}/")): size
        for name, (_, size) in there.items()
        if name.startswith(f"{JOURNAL}/") and name.removeprefix(f"{JOURNAL}/").isdigit()
    }
    row, end = {}, 0
    while sizes.get(end):
        row[end] = sizes[end]
        end += sizes[end]
    return row


def _segment(place: StoredPath, start: int) -> StoredPath:
    return place / JOURNAL / f"{start:015d}"
