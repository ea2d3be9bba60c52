"""The journal: an append-only file, the truth that every table and every MLflow record is made from.

One line of JSON a record. A line is on disk before its result counts, and a line that a kill cut short is dropped when
the journal is opened again, so a result is either there or its run is trained again.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from setsweep.sweeps.execution.errors import StorageLostError
from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.trials import KnownTrials, Trials
from setsweep.sweeps.study.defaults import DEFAULTS
from setsweep.trainables.config.run_result import RunResult

FILE = "journal.jsonl"
WRITER = "writer.json"
STATUSES = ("done", "diverged", "failed")
_RESULT, _CURVES = b'"result":{"key":"', b'],"curves":{'


class JournalError(ValueError):
    """The journal can't be opened or written; the message says what to do."""


class Journal:
    """The results of one study, on its storage.

    Args:
        folder: made where it is missing; holds ``journal.jsonl``.
        read_only: for reports beside a sweep that runs: takes no lock and writes nothing.
        curves: False: results come without their curves, the most of each, so that many are read in half of the time.

    Raises:
        JournalError: the folder can't be written, another sweep is writing to it, or a line in it is damaged.
    """

    def __init__(self, folder: Path, *, read_only: bool = False, curves: bool = True) -> None:
        assert curves or read_only, "what is written must be known whole"
        self.path = folder / FILE
        self._curves = curves
        self.results: dict[str, RunResult] = {}
        self.study: dict[str, Any] | None = None
        self.group_sizes: dict[str, int] = {}
        self.trials = KnownTrials()
        self.looks: list[Look] = []
        self._file: int | None = None
        if not read_only:
            self._file = _open(folder)
        try:
            self._read(truncate=not read_only)
        except JournalError:
            self.close()
            raise

    def add_all(self, results: Sequence[tuple[PlannedRun, RunResult]]) -> None:
        """Write results that came together; they are on disk when this returns.

        After a kill in the middle either all of them are there or none: seeds that trained together thus stay together
        when the study goes on.
        """
        records = [
            {
                "record": "result",
                "arm": run.arm,
                "point": dict(run.point),
                "stage": run.stage,
                "trial": run.trial,
                "config": run.config.to_dict(),
                "result": result.to_dict(),
            }
            for run, result in results
        ]
        self._append(records[0] if len(records) == 1 else {"record": "results", "results": records})
        self.results |= {result.key: result for _, result in results}

    def add_group_size(self, cost_class: str, seeds: int) -> None:
        """Write how many seeds of a class of configurations train together, as a probe has measured."""
        self._append({"record": "seeds at once", "family": cost_class, "seeds": seeds})
        self.group_sizes[cost_class] = seeds

    def add_trials(self, trials: Sequence[Trials]) -> None:
        """Write what a search has decided to try; before any of its runs starts."""
        for each in trials:
            self._append({"record": "trials", **each.to_dict()})
            self.trials.add(each)

    def add_look(self, look: Look) -> None:
        """Write that a confirmation is complete, where that is new."""
        if look not in self.looks:
            self._append({"record": "look", **look.to_dict()})
            self.looks.append(look)

    @property
    def defaults(self) -> int:
        """The defaults that the study was begun under, see `sweeps.study.defaults`."""
        return DEFAULTS if self.study is None else int(self.study.get("defaults", 1))

    def describe(self, study: Mapping[str, Any]) -> None:
        """Write what study the results that follow belong to, where that has changed."""
        if dict(study) != self.study:
            self._append({"record": "study", **study})
            self.study = dict(study)

    def close(self) -> None:
        """Give the lock back."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                (self.path.parent / WRITER).unlink(missing_ok=True)
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, *, truncate: bool) -> None:
        if not self.path.exists():
            return
        whole = 0
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith(b"\n"):  # else a kill has cut it short, or it is being written
                        self._take_line(number, line[:-1])
                        whole += len(line)
        except OSError as error:
            raise JournalError(f"{self.path}: must be a file that can be read, got: {error.strerror}.") from None
        if truncate and whole < self.path.stat().st_size:
            os.truncate(self.path, whole)

    def _take_line(self, number: int, line: bytes) -> None:
        try:
            self._take(json.loads(line) if self._curves else _load_without_curves(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise JournalError(
                f"{self.path}:{number}: must be a record of a sweep, got {line[:60]!r}. The file is damaged; "
                "without this line the rest can be used, and the run that it was of is trained again."
            ) from None

    def _take(self, record: dict[str, Any]) -> None:
        kind = record.pop("record")
        if kind == "results":
            for each in record["results"]:
                self._take(each)
        elif kind == "result":
            result = RunResult.from_dict(record["result"])
            if result.status not in STATUSES:  # which no table would count
                raise ValueError(result.status)
            self.results[result.key] = result
            if record["stage"] == "search" and record["trial"] is not None:
                place = record["arm"], record["point"], record["trial"]
                self.trials.add_result(*place, record["config"], result.key)
        elif kind == "trials":
            self.trials.add(Trials(**record))
        elif kind == "look":
            self.looks.append(Look.from_dict(record))
        elif kind == "study":
            self.study = record
        elif kind == "seeds at once":
            self.group_sizes[record["family"]] = record["seeds"]

    def check_there(self) -> None:
        """Whether what is written can still be found. Raises StorageLostError: somebody has removed or replaced it."""
        assert self._file is not None, "a journal opened for reading is not watched"
        try:
            there = os.path.samestat(self.path.stat(), os.fstat(self._file))
        except OSError:
            there = False
        if not there:
            raise StorageLostError(
                f"{self.path} must stay where it is while the study runs, got it removed or replaced: what is trained "
                "from now on could not be found again. Put it back, or begin anew with the same command."
            )

    def _append(self, record: Mapping[str, Any]) -> None:
        assert self._file is not None, "a journal opened for reading is not written"
        line = json.dumps(record, separators=(",", ":"), default=str) + "\n"
        rest = line.encode()
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            raise JournalError(f"{self.path}: must be written to go on, got: {error.strerror}.") from None


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Within it no sweep writes into the folder, whose journal need not be in order. Raises JournalError: one does."""
    file = _open(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / WRITER).unlink(missing_ok=True)
        os.close(file)


def _open(folder: Path) -> int:
    """The journal, for this process alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise JournalError(
            f"storage must be a folder that can be written, got {str(folder)!r}: {error.strerror}."
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if isinstance(error, BlockingIOError):
            another = f"which another one is writing{_writer(folder)}"
            rule = f"be written by one sweep at a time, got {str(folder)!r}, {another}."
        else:
            rule = f"be on a file system with locks, got {str(folder)!r}: {error.strerror}."
        raise JournalError(f"storage must {rule}") from None
    _flush_entry(folder)
    _sign(folder)
    return file


def _load_without_curves(line: bytes) -> Any:
    """A record whose results have lost their curves before they were read; whole where it has another form than ours.

    In a result, curves follow the list of epochs and hold nothing but lists; inside of JSON's strings, every quotation
    mark has a backslash before it, so that no text is taken for them.
    """
    parts, at = [], 0
    while (result := line.find(_RESULT, at)) >= 0 and (curves := line.find(_CURVES, result)) >= 0:
        parts.append(line[at : curves + len(_CURVES)])
        at = line.find(b"}", curves)
    try:
        return json.loads(b"".join((*parts, line[at:])))
    except ValueError:
        return json.loads(line)


def _sign(folder: Path) -> None:
    """Leave word of who writes, for whoever finds the journal locked; the lock itself is the system's."""
    writer = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with contextlib.suppress(OSError):
        (folder / WRITER).write_text(json.dumps(writer), encoding="utf-8")


def _writer(folder: Path) -> str:
    try:
        writer = json.loads((folder / WRITER).read_text(encoding="utf-8"))
        return f" (process {writer['pid']} on {writer['host']}, since {writer['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _flush_entry(folder: Path) -> None:
    """A new file is safe from a power cut when its entry in the folder is, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
