"""The mailbox between the driver and the slots: jobs one way, results the other. Plain asyncio, run as a Ray actor."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sweeps.execution.executor import Job
from trainables.attempt import failed
from trainables.run_config import RunResult

Parcel = tuple[Job, Any]  # the job and a handle to the shared part of its data


class Mailbox:
    """Hands jobs to slots and takes their results.

    A job whose slot died goes to the front of the queue again, to be resumed from its checkpoint by whichever slot is
    free first; after `max_attempts` starts it is a failed run.

    Args:
        max_attempts: how often a job may be started.
    """

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts
        self._waiting: deque[Parcel] = deque()
        self._training: dict[int, tuple[Parcel, float]] = {}
        self._results: list[RunResult] = []
        self._closed = False
        self._changed = asyncio.Condition()

    async def post(self, parcels: Sequence[Parcel]) -> None:
        """Queue jobs."""
        self._waiting.extend(parcels)
        await self._notify()

    async def take(self, slot: int, result: RunResult | None, timeout: float) -> Parcel | bool:
        """Deliver the slot's last result and get its next job; True to ask again, False when there will be none."""
        if result is not None:
            self._training.pop(slot, None)
            self._results.append(result)
            await self._notify()
        await self.lost(slot)
        await self._until(lambda: bool(self._waiting) or self._closed, timeout)
        if self._waiting:
            parcel = self._waiting.popleft()
            self._training[slot] = (parcel, time.time())
            return parcel
        return not self._closed

    async def lost(self, slot: int) -> None:
        """The slot's worker is gone, and with it what it was training."""
        if slot not in self._training:
            return
        (job, data), started = self._training.pop(slot)
        if job.attempts < self.max_attempts:
            self._waiting.appendleft((replace(job, attempts=job.attempts + 1), data))
        else:
            reason = f"the worker died in each of {job.attempts} attempts"
            self._results.append(failed(job.config, reason, started=started, attempts=job.attempts))
        await self._notify()

    async def collect(self, timeout: float) -> list[RunResult]:
        """The results since the last call; waits up to `timeout` seconds for the first one."""
        await self._until(lambda: bool(self._results), timeout)
        results, self._results = self._results, []
        return results

    async def close(self) -> None:
        """No job will follow: slots that ask are sent home."""
        self._closed = True
        self._waiting.clear()
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _until(self, condition: Any, timeout: float) -> None:
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(condition), timeout)
            except TimeoutError:
                return
