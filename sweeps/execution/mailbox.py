"""The mailbox between the driver and the slots: jobs one way, results the other.

It lives in the driver, so that it can't be lost while the sweep goes on; see `sweeps.execution.mailbox_server` for how
slots reach it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import GroupSize, Job, Outcome
from setsweep.sweeps.execution.news import Moment
from setsweep.trainables.config.run_result import Cause, RunResult, failed


@dataclass(frozen=True)
class Parcel:
    """What a slot is given.

    Args:
        job: to be done.
        data: handles to the shared parts of its data by what names them, None where there are none.
    """

    job: Job
    data: Any = None


@dataclass(frozen=True)
class Worker:
    """The process of a slot.

    Args:
        name: its own; the process that follows it has another.
        memory: names the memory that its jobs fill; processes that name the same share it.
    """

    name: str
    memory: str = ""


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
        self._news: dict[str, Moment] = {}
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

    def take(self, slot: int, worker: Worker, outcomes: Sequence[Outcome], timeout: float) -> Parcel | Wait | Done:
        """Bring what the slot's last job gave and get its next one.

        A job that ran out of memory which it had shared is taken back, see `_crowded`. The call of a worker that died
        while it waited is still here when the next one calls, and must not be given a job.

        Args:
            slot: its number.
            worker: its process.
            outcomes: of the last job.
            timeout: seconds to wait for a job.
        """

        def ready() -> bool:
            return bool(self._waiting) and worker not in self._resting

        with self._changed:
            if outcomes and not self._crowded(slot, worker, outcomes):
                self._training.pop(slot, None)
                self.put(outcomes)
            self.lost(slot)
            self._worker[slot] = worker
            self._changed.wait_for(lambda: ready() or self._closed or self._worker.get(slot) != worker, timeout)
            if self._closed or self._worker.get(slot) != worker:
                return Done()
            if not ready():
                return Wait()
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
            parcel, started = self._training.pop(slot)
            job = parcel.job
            if job.attempts < self.max_attempts:
                self._waiting.appendleft(replace(parcel, job=replace(job, attempts=job.attempts + 1)))
                self._changed.notify_all()
            else:
                self.put(
                    failures(
                        job, f"the worker died in each of {job.attempts} attempts", cause="worker", started=started
                    )
                )

    def _crowded(self, slot: int, worker: Worker, outcomes: Sequence[Outcome]) -> bool:
        """Whether the slot's job ran out of memory that it had shared, and is taken back.

        Then it is queued again, and the slot rests, so that fewer share the memory; the last to use it does not. A job
        that has failed with the memory to itself is too large, and not the others too many: the failure is its own, and
        the slots that rest on its account are woken.
        """
        if not any(isinstance(each, RunResult) and each.cause == "memory" for each in outcomes):
            return False
        if self._worker.get(slot) != worker or slot not in self._training:
            return True  # held for lost meanwhile, so queued again already
        parcel, _ = self._training[slot]
        beside = [number for number in self._awake(worker.memory) if number != slot]
        taken_back = bool(beside) or slot in self._had_company
        if taken_back:
            del self._training[slot]
            self._waiting.appendleft(parcel)
            self._had_company.update(beside)
        else:
            self._resting = {other: key for other, key in self._resting.items() if key != parcel.job.key}
        if beside:
            self._resting[worker] = parcel.job.key
        self._changed.notify_all()
        return taken_back

    def _awake(self, memory: str) -> list[int]:
        """The slots that fill a memory."""
        return [slot for slot, each in self._worker.items() if each.memory == memory and each not in self._resting]

    def collect(self, timeout: float) -> list[Outcome]:
        """The outcomes since the last call; waits up to `timeout` seconds for the first one."""
        with self._changed:
            self._changed.wait_for(lambda: self._outcomes, timeout)
            outcomes, self._outcomes = self._outcomes, []
            return outcomes

    def tell(self, moments: Sequence[Moment]) -> None:
        """Take what running runs have come to."""
        with self._changed:
            self._news |= {moment.key: moment for moment in moments}

    def news(self) -> list[Moment]:
        """What was told since the last call, of each run the newest."""
        with self._changed:
            news, self._news = [*self._news.values()], {}
            return news

    def close(self) -> None:
        """No job will follow: slots that ask are sent home."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()


def failures(job: Job, reason: str, *, cause: Cause = "error", started: float) -> list[Outcome]:
    """What a job gives that could not be done: failed runs, or a probe that recommends nothing."""
    if job.probe:
        return [GroupSize(key=job.key, seeds=1)]
    return [failed(config, reason, cause=cause, started=started, attempts=job.attempts) for config in job.configs]
