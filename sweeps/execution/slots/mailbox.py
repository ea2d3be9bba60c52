"""The mailbox between the driver and the slots: jobs one way, results the other.

It lives in the driver, so that it can't be lost while the sweep goes on; see `sweeps.execution.slots.exchange` for how
slots reach it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from setsweep.sweeps.execution.answers import Done
from setsweep.sweeps.execution.executor import GroupSize, Job, Outcome
from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.execution.slots.messages import Parcel, Place
from setsweep.trainables.config.run_result import Cause, RunResult, failed

Answer = Callable[[Parcel | Done], None]

GIVE_SECONDS = 20.0  # in which slots that are too many end between two runs; later in the middle of one


@dataclass
class _Slot:
    """What is known of a slot.

    Attributes:
        parcel: what it trains, since `started`; None: nothing.
        answer: it waits for a job, since `idle_since`, and is given it by this; None: it does not.
        rests_for: the job whose want of memory made it leave the memory to others.
        had_company: whether its job began beside one that rests since.
        recalled: it gets no more jobs.
    """

    place: Place
    parcel: Parcel | None = None
    started: float = 0.0
    answer: Answer | None = None
    idle_since: float = 0.0
    rests_for: str | None = None
    had_company: bool = False
    recalled: bool = False


@dataclass(frozen=True)
class Load:
    """How much there is to do.

    Args:
        training: jobs that slots have.
        waiting: jobs that no slot has.
        resting: slots that get no jobs for want of memory.
        begun: whether any job has come yet.
    """

    training: int
    waiting: int
    resting: int
    begun: bool


class Mailbox:
    """Hands jobs to slots and takes their outcomes. All methods may be called from any thread, and none waits for a
    slot: who asks is answered when there is something to answer.

    A job whose slot died goes to the front of the queue again, to be resumed from its checkpoint by whichever slot is
    free first; after `max_attempts` starts its runs have failed.

    Args:
        max_attempts: how often a job may be started.
        clock: in seconds.
    """

    def __init__(self, max_attempts: int = 3, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_attempts = max_attempts
        self._clock = clock
        self._waiting: deque[Parcel] = deque()
        self._slots: dict[int, _Slot] = {}
        self._watchers: dict[int, Callable[[], None]] = {}
        self._outcomes: list[Outcome] = []
        self._news: dict[str, Moment] = {}
        self._begun = self._closed = False
        self._most, self._too_many_since = math.inf, math.inf
        self._changed = threading.Condition()  # its lock is re-entrant: methods call each other under it

    def post(self, parcel: Parcel) -> None:
        """Queue a job."""
        with self._changed:
            self._begun = True
            self._waiting.append(parcel)
            self._hand_out()

    def put(self, outcomes: Iterable[Outcome]) -> None:
        """Take outcomes that no slot brings."""
        with self._changed:
            self._begun = True
            self._outcomes += outcomes
            self._changed.notify_all()

    @property
    def load(self) -> Load:
        """How much there is to do now."""
        with self._changed:
            return Load(
                training=sum(slot.parcel is not None for slot in self._slots.values()),
                waiting=len(self._waiting),
                resting=sum(slot.rests_for is not None for slot in self._slots.values()),
                begun=self._begun,
            )

    def take(self, number: int, place: Place, outcomes: Sequence[Outcome], answer: Answer) -> None:
        """Take what a slot's last job gave, and give it its next one as soon as there is one.

        A job that ran out of memory which it had shared is taken back, see `_crowded`. A slot that asks without a
        result has lost its job: it is another process than the one that was given it.

        Args:
            number: of the slot.
            place: where it is.
            outcomes: of the last job.
            answer: called once, with a job, or with Done where there will be none.
        """
        with self._changed:
            if outcomes and not self._crowded(number, outcomes):
                if number in self._slots:
                    self._slots[number].parcel = None
                self.put(outcomes)
            slot = self._slots.pop(number, None)
            if slot is None or slot.parcel is not None:
                self._queue_again(slot, blame=True)
                slot = _Slot(place)
            slot.answer, slot.idle_since = answer, self._clock()
            self._slots[number] = slot  # the last of those that wait
            self._hand_out()

    def give_back(self, number: int) -> None:
        """The slot has stopped in the middle of its job and goes; the job goes on elsewhere, and that it was started
        once more than it ended is not its fault.
        """
        self.lost(number, blame=False)

    def lost(self, number: int, *, blame: bool = True) -> None:
        """The slot is gone, and with it what it was training.

        Args:
            number: of the slot.
            blame: whether what it trained may have been the cause; not where its node was lost.
        """
        with self._changed:
            slot = self._slots.pop(number, None)
            self._watchers.pop(number, None)
            self._queue_again(slot, blame=blame)
            self._hand_out()

    def all_lost(self) -> None:
        """There is no slot any more."""
        with self._changed:
            for number in list(self._slots):
                self.lost(number, blame=False)

    def watch(self, number: int, recall: Callable[[], None]) -> None:
        """Have a slot told, while it trains, that it is to write its checkpoint, give back its job and go."""
        with self._changed:
            if self._closed or (number in self._slots and self._slots[number].recalled):
                recall()
            else:
                self._watchers[number] = recall

    def recall(self, numbers: Collection[int]) -> None:
        """Have these slots give back what they train, and go."""
        with self._changed:
            for number in numbers:
                if number in self._slots:
                    self._slots[number].recalled = True
                    if recall := self._watchers.pop(number, None):
                        recall()
            self._hand_out()

    def bound(self, most: float) -> None:
        """Keep no more slots than this: who asks for a job when there are too many goes home. Where that does not
        happen in some seconds, slots have to give back what they train: first on nodes with few, which others may want
        whole.
        """
        with self._changed:
            self._most = most
            self._hand_out()
            too_many = len(self._staying()) - most
            if too_many <= 0:
                self._too_many_since = math.inf
                return
            self._too_many_since = min(self._too_many_since, self._clock())
            if self._clock() - self._too_many_since >= GIVE_SECONDS:
                beside = Counter(slot.place.node for slot in self._slots.values())
                places = {number: self._slots[number].place.node for number in self._staying()}
                leaving = sorted(places, key=lambda number: (beside[places[number]], places[number], number))
                self.recall(leaving[: int(too_many)])

    def on_nodes(self, nodes: Collection[str]) -> list[int]:
        """The slots on these nodes."""
        with self._changed:
            return [number for number, slot in self._slots.items() if slot.place.node in nodes]

    def node_of(self, number: int) -> str | None:
        """The node of a slot; None: it has not asked for a job yet."""
        with self._changed:
            return self._slots[number].place.node if number in self._slots else None

    def send_idle_home(self, seconds: float) -> None:
        """End the slots that have waited for so long, where there is nothing for them to do."""
        with self._changed:
            if self._waiting or not self._begun:
                return
            for number, slot in list(self._slots.items()):
                if slot.answer is not None and self._clock() - slot.idle_since >= seconds:
                    self._send_home(number)

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
        """No job will follow: slots that wait are sent home, those that train are recalled."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self.recall(list(self._slots))
            for recall in self._watchers.values():
                recall()
            self._watchers.clear()

    def _queue_again(self, slot: _Slot | None, *, blame: bool) -> None:
        """Put what a slot was training before all other jobs, or give it up."""
        if slot is None or slot.parcel is None or self._closed:
            return
        job = slot.parcel.job
        if not blame:
            self._waiting.appendleft(slot.parcel)
        elif job.attempts < self.max_attempts:
            self._waiting.appendleft(replace(slot.parcel, job=replace(job, attempts=job.attempts + 1)))
        else:
            reason = f"the worker died in each of {job.attempts} attempts"
            self.put(failures(job, reason, cause="worker", started=slot.started))

    def _hand_out(self) -> None:
        """Give jobs to the slots that wait, the one first that has waited longest."""
        too_many = len(self._staying()) - self._most
        for number, slot in list(self._slots.items()):
            if slot.answer is None:
                continue
            if self._closed or slot.recalled or too_many > 0:
                too_many -= not slot.recalled
                self._send_home(number)
            elif self._waiting and slot.rests_for is None:
                slot.parcel, slot.started = self._waiting.popleft(), time.time()
                answer, slot.answer, slot.had_company = slot.answer, None, False
                answer(slot.parcel)

    def _staying(self) -> list[int]:
        """The slots that have not been recalled."""
        return [number for number, slot in self._slots.items() if not slot.recalled]

    def _send_home(self, number: int) -> None:
        answer = self._slots.pop(number).answer
        self._watchers.pop(number, None)
        assert answer is not None, "a slot that trains is recalled"
        answer(Done())

    def _crowded(self, number: int, outcomes: Sequence[Outcome]) -> bool:
        """Whether the slot's job ran out of memory that it had shared, and is taken back.

        Then it is queued again, and the slot rests, so that fewer share the memory; the last to use it does not. A job
        that has failed with the memory to itself is too large, and not the others too many: the failure is its own, and
        the slots that rest on its account are woken.
        """
        if not any(isinstance(each, RunResult) and each.cause == "memory" for each in outcomes):
            return False
        slot = self._slots.get(number)
        if slot is None or slot.parcel is None:
            return True  # held for lost meanwhile, so queued again already
        beside = [other for other in self._slots.values() if other is not slot and _shares(other, slot.place)]
        taken_back = bool(beside) or slot.had_company
        if taken_back:
            self._waiting.appendleft(slot.parcel)
            for other in beside:
                other.had_company = True
        else:
            for other in self._slots.values():
                if other.rests_for == slot.parcel.job.key:
                    other.rests_for = None
        if beside:
            slot.rests_for = slot.parcel.job.key
        slot.parcel = None
        return taken_back


def _shares(slot: _Slot, place: Place) -> bool:
    """Whether a slot fills the memory of a place."""
    return slot.place.memory == place.memory and slot.rests_for is None


def failures(job: Job, reason: str, *, cause: Cause = "error", started: float) -> list[Outcome]:
    """What a job gives that could not be done: failed runs, or a probe that recommends nothing."""
    if job.probe:
        return [GroupSize(key=job.key, seeds=1)]
    return [failed(config, reason, cause=cause, started=started, attempts=job.attempts) for config in job.configs]
