"""The mailbox between the driver and the slots: jobs one way, results the other.

It lives in the driver, so that it can't be lost while the sweep goes on; see `sweeps.execution.mailbox_server` for how
slots reach it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from setsweep.sweeps.execution.executor import Job, Outcome, SeedsAtOnce
from setsweep.trainables.config.run_result import Cause, failed

Parcel = tuple[Job, Any]  # the job and a handle to the shared part of its data


@dataclass(frozen=True)
class Worker:
    """The process of a slot.

    Args:
        name: its own; the process that takes its place has another.
        place: names the memory that its jobs fill; processes with the same place share it.
    """

    name: str
    place: str = ""


class Mailbox:
    """Hands jobs to slots and takes their outcomes. All methods may be called from any thread.

    A job whose slot died goes to the front of the queue again, to be resumed from its checkpoint by whichever slot is
    free first; after `max_attempts` starts its runs have failed.

    Args:
        max_attempts: how often a job may be started.
    """

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts
        self._waiting: deque[Parcel] = deque()
        self._training: dict[int, tuple[Parcel, float]] = {}
        self._worker: dict[int, Worker] = {}
        self._resting: dict[Worker, str] = {}  # those that leave the memory to others, and the job that made them
        self._had_company: set[int] = set()  # slots whose job began beside one that rests since
        self._outcomes: list[Outcome] = []
        self._closed = False
        self._changed = threading.Condition()  # its lock is re-entrant: methods call each other under it

    def post(self, parcel: Parcel) -> None:
        """Queue a job."""
        with self._changed:
            self._waiting.append(parcel)
            self._changed.notify_all()

    def put(self, outcomes: Iterable[Outcome]) -> None:
        """Take outcomes that no slot brings."""
        with self._changed:
            self._outcomes += outcomes
            self._changed.notify_all()

    @property
    def resting(self) -> int:
        """How many slots get no jobs for want of memory."""
        with self._changed:
            return sum(worker in self._resting for worker in self._worker.values())

    def take(self, slot: int, worker: Worker, outcomes: Iterable[Outcome], timeout: float) -> Parcel | bool:
        """Bring what the slot's last job gave and get its next one; True to ask again, False when there is none left.

        The call of a worker that died while it waited is still here when the next one calls, and must not be given a
        job.
        """

        def ready() -> bool:
            return bool(self._waiting) and worker not in self._resting

        with self._changed:
            if outcomes:
                self._training.pop(slot, None)
                self.put(outcomes)
            self.lost(slot)
            self._worker[slot] = worker
            self._changed.wait_for(lambda: ready() or self._closed or self._worker.get(slot) != worker, timeout)
            if self._closed or self._worker.get(slot) != worker:
                return False
            if not ready():
                return True
            parcel = self._waiting.popleft()
            self._training[slot] = (parcel, time.time())
            self._had_company.discard(slot)
            return parcel

    def lost(self, slot: int) -> None:
        """The slot's worker is gone, and with it what it was training."""
        with self._changed:
            if self._worker.pop(slot, None) is not None:
                self._changed.notify_all()
            if slot not in self._training:
                return
            (job, data), started = self._training.pop(slot)
            if job.attempts < self.max_attempts:
                self._waiting.appendleft((replace(job, attempts=job.attempts + 1), data))
                self._changed.notify_all()
            else:
                self.put(
                    failures(
                        job, f"the worker died in each of {job.attempts} attempts", cause="worker", started=started
                    )
                )

    def crowded(self, slot: int, worker: Worker) -> bool:
        """The slot's job ran out of memory, which it may have shared.

        If it has, the job is queued again, and the slot rests, so that fewer share the memory; the last to use it does
        not. A job that has failed with the memory to itself is too large, and not the others too many: the slots that
        rest on its account are woken.

        Returns:
            Whether the job was taken back; else the failure is its own.
        """
        with self._changed:
            if self._worker.get(slot) != worker or slot not in self._training:
                return True  # held for lost meanwhile, so queued again already
            (job, data), _ = self._training[slot]
            beside = [number for number in self._awake(worker.place) if number != slot]
            taken_back = bool(beside) or slot in self._had_company
            if taken_back:
                del self._training[slot]
                self._waiting.appendleft((job, data))
                self._had_company.update(beside)
            else:
                self._resting = {other: key for other, key in self._resting.items() if key != job.key}
            if beside:
                self._resting[worker] = job.key
            self._changed.notify_all()
            return taken_back

    def _awake(self, place: str) -> list[int]:
        """The slots that fill a memory."""
        return [slot for slot, each in self._worker.items() if each.place == place and each not in self._resting]

    def collect(self, timeout: float) -> list[Outcome]:
        """The outcomes since the last call; waits up to `timeout` seconds for the first one."""
        with self._changed:
            self._changed.wait_for(lambda: self._outcomes, timeout)
            outcomes, self._outcomes = self._outcomes, []
            return outcomes

    def close(self) -> None:
        """No job will follow: slots that ask are sent home."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()


def failures(job: Job, reason: str, *, cause: Cause = "error", started: float) -> list[Outcome]:
    """What a job gives that could not be done: failed runs, or a probe that recommends nothing."""
    if job.probe:
        return [SeedsAtOnce(key=job.key, seeds=1)]
    return [failed(config, reason, cause=cause, started=started, attempts=job.attempts) for config in job.configs]
