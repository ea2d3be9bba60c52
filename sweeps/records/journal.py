"""The journal: an append-only file, the truth that every table and every MLflow record is made from.

One line of JSON a record. A line is on disk before its result counts, and a line that a kill cut short is dropped when
the journal is opened again, so a result is either there or its run is trained again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.trials import KnownTrials, Trials
from setsweep.sweeps.records.lease import FILE, JournalError, Say
from setsweep.sweeps.records.remote.lease import held
from setsweep.sweeps.study.defaults import DEFAULTS
from setsweep.trainables.config.run_result import LARGEST, RunResult

STATUSES = ("done", "diverged", "failed")
NUMBERS = frozenset((int, float))
_RESULT, _CURVES = b'"result":{"key":"', b'],"curves":{'


class Journal:
    """The results of one study, on its storage.

    Args:
        folder: made where it is missing; holds ``journal.jsonl``.
        read_only: for reports beside a sweep that runs: takes no lock and writes nothing.
        curves: False: results come without their curves, the most of each, so that many are read in half of the time.
        take_over, say: see `records.lease.Lease`.

    Raises:
        JournalError: the folder can't be written, another sweep is writing to it, or a line in it is damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        read_only: bool = False,
        curves: bool = True,
        take_over: bool = False,
        say: Say | None = None,
    ) -> None:
        assert curves or read_only, "what is written must be known whole"
        self.path = folder / FILE
        self._curves = curves
        self.results: dict[str, RunResult] = {}
        self.study: dict[str, Any] | None = None
        self.group_sizes: dict[str, int] = {}
        self.trials = KnownTrials()
        self.looks: list[Look] = []
        self._lease = None if read_only else held(folder, take_over=take_over, say=say)
        try:
            self._read(truncate=not read_only)
        except JournalError:
            self.close()
            raise

    def add_all(self, *jobs: Sequence[tuple[PlannedRun, RunResult]]) -> None:
        """Write the results of jobs; they are on disk when this returns.

        After a kill in the middle either all results of a job are there or none: seeds that trained together thus stay
        together when the study goes on.
        """
        written = [self._results(job) for job in jobs]
        self._append(*(each[0] if len(each) == 1 else {"record": "results", "results": each} for each in written))
        self.results |= {result.key: result for job in jobs for _, result in job}

    @staticmethod
    def _results(job: Sequence[tuple[PlannedRun, RunResult]]) -> list[dict[str, Any]]:
        return [
            {
                "record": "result",
                "arm": run.arm,
                "point": dict(run.point),
                "stage": run.stage,
                "trial": run.trial,
                "config": run.config.to_dict(),
                "result": result.to_dict(),
            }
            for run, result in job
        ]

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
        if self._lease is not None:
            self._lease.close()
            self._lease = None

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
            _check(result)
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
        """Whether what is written can still be found. Raises StorageLostError, see `Lease.check`."""
        assert self._lease is not None, "a journal opened for reading is not watched"
        self._lease.check()

    def _append(self, *records: Mapping[str, Any]) -> None:
        """Write records, a line each, and wait for the disk once."""
        assert self._lease is not None, "a journal opened for reading is not written"
        lines = "".join(json.dumps(each, separators=(",", ":"), default=str) + "\n" for each in records)
        self._lease.append(lines.encode())


def _check(result: RunResult) -> None:
    """Raise ValueError or TypeError for what no training has given, so that no table stumbles over it later."""
    if result.status not in STATUSES:
        raise ValueError(result.status)
    rows = (result.metrics, result.best_epoch, result.thresholds, *result.tested.values())
    single = (result.seconds, result.started, result.finished, result.attempts)
    for values in (single, result.epochs, *(row.values() for row in rows), *result.curves.values()):
        if not NUMBERS.issuperset(map(type, values)):
            raise TypeError(f"{result.key}: a value is no number")
        if _too_large(values):
            raise ValueError(f"{result.key}: a value is too large")
    if not (isinstance(result.key, str) and isinstance(result.reason, str | None) and isinstance(result.host, str)):
        raise TypeError(f"{result.key}: no text")


def _too_large(values: Collection[float]) -> bool:
    """Whether one is larger than a run gives, see `LARGEST`; infinite ones are of a run that diverged."""
    if not values or -LARGEST <= min(values) <= max(values) <= LARGEST:
        return False
    return any(LARGEST < abs(value) < math.inf for value in values)


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
