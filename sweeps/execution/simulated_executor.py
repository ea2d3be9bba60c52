"""The executor without training: virtual time, slots of different speed, workers that die. For tests of the planner.

What a run gives is a function of its configuration, as in a real sweep; when it gives it is drawn from a seed.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from setsweep.sweeps.execution.executor import GroupSize, Job, Outcome
from setsweep.sweeps.execution.news import Tell
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

Result = Callable[[RunConfig], RunResult]


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What befalls the slots.

    Args:
        seconds: mean duration of a run on a slot of speed 1; durations are exponential, so all orders of arrival occur.
        slow_share: the share of slots that are slow.
        slow_factor: how much longer everything takes there.
        loss_rate: the chance that the worker dies in the middle of a run, whose job is then started again.
        recovery_seconds: until the slot of a dead worker takes jobs again.
    """

    seconds: float = 10.0
    slow_share: float = 0.0
    slow_factor: float = 5.0
    loss_rate: float = 0.0
    recovery_seconds: float = 30.0


class SimulatedExecutor:
    """Gives results in virtual time.

    Args:
        outcome: a run's result, diverged and failed ones included, as a function of the configuration.
        slots: how many jobs run at once.
        seed: decides durations, slow slots and losses.
        weather: see `Weather`.

    Attributes:
        now: virtual seconds since the start.
        busy: slot-seconds of `now` in which a run was trained, those lost with a worker included.
        losses: how many workers have died.
        started: how often each run was started, by run key.
    """

    def __init__(self, outcome: Result, *, slots: int, seed: int = 0, weather: Weather | None = None) -> None:
        self._outcome, self._slots = outcome, slots
        self._weather = weather or Weather()
        self._random = random.Random(seed)  # noqa: S311 - a simulation, no secret
        slow = round(self._weather.slow_share * slots)
        self._pace = [self._weather.slow_factor if slot < slow else 1.0 for slot in range(slots)]
        self._free = set(range(slots))
        self._queue: deque[Job] = deque()
        self._events: list[tuple[float, int, int, Job | None, bool]] = []  # time, number, slot, job, worker dies
        self._numbers = itertools.count()
        self.now = self.busy = 0.0
        self.losses = 0
        self.started: dict[str, int] = {}

    @property
    def slots(self) -> int:
        """How many jobs run at once."""
        return self._slots

    @property
    def room(self) -> int:
        """One job waits for each that is trained."""
        return 2 * self._slots

    @property
    def gpus(self) -> float:
        """It has none."""
        return 0.0

    @property
    def utilisation(self) -> float:
        """The share of the slots' time in which something was trained."""
        return self.busy / (self.now * self._slots) if self.now else 1.0

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._queue.append(job)
        self._start_jobs()

    def wait(self, timeout: float) -> list[Outcome]:
        """Let virtual time pass until the next result; `timeout` does not apply."""
        while self._events:
            self.now, _, slot, job, dies = heapq.heappop(self._events)
            outcomes = self._happen(slot, job, dies=dies)
            self._start_jobs()
            if outcomes:
                return outcomes
        return []

    def listen(self, tell: Tell) -> None:
        """There is nothing to tell: no run has epochs."""

    def close(self) -> None:
        """Give up what is queued and what runs."""
        self._queue.clear()
        self._events.clear()

    def _happen(self, slot: int, job: Job | None, *, dies: bool) -> list[Outcome]:
        """A worker dies, is there again (no job), or brings results."""
        if job is not None and dies:
            self.losses += 1
            self._queue.appendleft(replace(job, attempts=job.attempts + 1))
            self._schedule(self._weather.recovery_seconds, slot, None, dies=False)
            return []
        self._free.add(slot)
        if job is None:
            return []
        if job.probe:
            return [GroupSize(key=job.key, seeds=len(job.configs))]
        return [replace(self._outcome(config), attempts=job.attempts, finished=self.now) for config in job.configs]

    def _start_jobs(self) -> None:
        while self._queue and self._free:
            slot = min(self._free, key=lambda free: (self._pace[free], free))
            self._free.remove(slot)
            job = self._queue.popleft()
            for config in job.configs:
                self.started[config.key] = self.started.get(config.key, 0) + 1
            seconds = self._pace[slot] * self._random.expovariate(1 / self._weather.seconds)
            dies = self._random.random() < self._weather.loss_rate
            self.busy += seconds
            self._schedule(seconds, slot, job, dies=dies)

    def _schedule(self, seconds: float, slot: int, job: Job | None, *, dies: bool) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), slot, job, dies))
