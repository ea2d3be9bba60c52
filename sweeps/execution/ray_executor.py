"""The executor on a Ray cluster: Ray Tune places slots, a mailbox hands them jobs, the object store holds the data."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

import ray

from setsweep.data.arrays import to_arrays
from setsweep.sweeps.execution.answers import Done
from setsweep.sweeps.execution.datasets import DatasetCache, base_jobs
from setsweep.sweeps.execution.errors import ExecutorError, UnseenStorageError
from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.news import Tell
from setsweep.sweeps.execution.slots.claims import Standing
from setsweep.sweeps.execution.slots.exchange import Exchange, Send, pickled
from setsweep.sweeps.execution.slots.mailbox import Mailbox, failures
from setsweep.sweeps.execution.slots.messages import GiveBack, Hello, Needs, Parcel, Take, Unseen, Watch
from setsweep.sweeps.execution.slots.messages import Tell as Told
from setsweep.sweeps.execution.slots.tune_slots import TuneSlots
from setsweep.trainables.places import AnyPath

LEAVE_SECONDS = 10.0  # for slots to write their checkpoints and go
MOST_LOST = 4  # deaths of a slot without a result of any slot in between; more than a deadly job causes


class RayExecutor:
    """Trains jobs on the slots of the connected cluster (`sweeps.execution.cluster.connect`), which follow it as it
    grows and shrinks.

    Args:
        cpus, gpus: what one run occupies.
        max_attempts: how often a run is started when its worker dies.
        most: more slots than this are of no use.
        max_slots: how many to ask for, of a cluster that grows when it is asked; None: as many as it has room for.
        idle_seconds: after which a slot without work is given up, so that others may have it.
        standing: beside other sweeps that use the cluster; None: there are none.
        datasets: shared data that are loaded already.
        files: modules of the user's own that slots import, by their path in a folder.
        storage: where results are kept, which all nodes must see; None: it need not be looked for.
    """

    def __init__(
        self,
        *,
        cpus: float = 1,
        gpus: float = 0,
        max_attempts: int = 3,
        most: int | None = None,
        max_slots: int | None = None,
        idle_seconds: float = math.inf,
        standing: Standing | None = None,
        datasets: DatasetCache | None = None,
        files: Mapping[str, bytes] | None = None,
        storage: AnyPath | None = None,
    ) -> None:
        self._gpus = gpus
        seen = None if storage is None else storage / f".seen-{uuid.uuid4().hex}"
        if seen is not None:
            seen.touch()
        self._needs, self._unseen_by = Needs(files or {}, seen), ""
        self._mailbox = Mailbox(max_attempts)
        self._exchange = Exchange(self._receive)
        self._slots = TuneSlots(
            self._mailbox,
            self._exchange.name,
            cpus=cpus,
            gpus=gpus,
            most=most,
            max_slots=max_slots,
            idle_seconds=idle_seconds,
            standing=standing,
        )
        self._outstanding: set[str] = set()
        self._datasets = datasets or DatasetCache()
        self._data: dict[str, tuple[Any, bytes]] = {}
        self._tell: Tell | None = None

    @property
    def slots(self) -> int:
        """How many jobs train at once."""
        return max(1, self._slots.there - self._mailbox.load.resting)

    @property
    def room(self) -> int:
        """As many jobs as may train, should the cluster grow, and one waiting for each that does."""
        return self._slots.limit + self.slots

    @property
    def gpus(self) -> float:
        """What a job that trains has of a GPU."""
        return self._gpus

    def submit(self, job: Job) -> None:
        """Queue a job; its data goes into the object store the first time it is needed."""
        self._outstanding.update(job.outcome_keys)
        try:
            parcel = Parcel(job, self._shared_data(job))
        except Exception as error:  # noqa: BLE001 - data that can't be read fails the run, not the sweep
            self._mailbox.put(failures(job, f"{type(error).__name__}: {error}", started=time.time()))
            return
        self._mailbox.post(parcel)

    def wait(self, timeout: float) -> list[Outcome]:
        """The outcomes that have come; each once."""
        self._check_alive()
        arrived = self._mailbox.collect(timeout)
        if (news := self._mailbox.news()) and self._tell is not None:
            self._tell(news)
        if arrived:
            self._slots.lost_in_a_row = 0
        new = [outcome for outcome in arrived if outcome.key in self._outstanding]
        self._outstanding.difference_update(outcome.key for outcome in new)
        return new

    def listen(self, tell: Tell) -> None:
        """Told whenever `wait` ends."""
        self._tell = tell

    def close(self) -> None:
        """Send the slots home: those that train write their checkpoints; those that don't go soon are ended."""
        self._mailbox.close()
        self._slots.close(LEAVE_SECONDS)
        self._exchange.close()
        if self._needs.seen is not None:
            self._needs.seen.unlink(missing_ok=True)

    def _receive(self, said: Hello | Unseen | Take | Watch | GiveBack | Told, answer: Send) -> None:
        """What a slot says."""
        match said:
            case Hello():
                answer(self._needs)
            case Unseen():
                self._unseen_by = said.host
                answer(None)
            case Take():
                self._mailbox.take(said.slot, said.place, said.outcomes, answer)
            case Watch():
                self._mailbox.watch(said.slot, partial(answer, None))
            case GiveBack():
                self._mailbox.give_back(said.slot)
                answer(Done())
            case Told():
                self._mailbox.tell(said.moments)

    def _check_alive(self) -> None:
        """Slots that die again and again with nothing to show for it are a broken installation, not bad luck."""
        slots = self._slots
        if self._unseen_by and self._needs.seen is not None:
            raise UnseenStorageError(
                f"--storage must be seen by all nodes of the cluster, got {str(self._needs.seen.parent.parent)!r}, "
                f"which {self._unseen_by} does not see. Give it a folder that they share."
            )
        if self._exchange.error is not None:
            raise ExecutorError(f"slots must say what is understood, got: {self._exchange.error}")
        if slots.error is not None:
            raise ExecutorError(f"Ray Tune must go on, got: {slots.error}") from slots.error
        if self._outstanding and not slots.alive:
            raise ExecutorError(f"slots must stay to the end, all went with {len(self._outstanding)} results missing")
        if slots.lost_in_a_row > MOST_LOST * self.slots:
            raise ExecutorError(
                f"slots must stay alive, {slots.lost_in_a_row} died without a result: {slots.last_traceback}"
            )

    def _shared_data(self, job: Job) -> dict[str, bytes]:
        """Handles to the shared parts of the job's data, each of which is put into the object store once."""
        parts = base_jobs(job)
        for key, own in parts.items():
            if key not in self._data:
                reference = ray.put(to_arrays(self._datasets.take_base(own)))
                self._data[key] = (reference, pickled(reference))  # holding the reference keeps the data
        return {key: self._data[key][1] for key in parts}
