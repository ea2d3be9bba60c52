"""The mailbox between the driver and the slots: jobs one way, results the other.

It lives in the driver, so that it can't be lost while the sweep goes on; slots on any host call it through a manager of
the standard library, whose connections are authenticated with a key that only this sweep's slots are given.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.managers import BaseManager
from typing import Any

from sweeps.execution.executor import Job
from trainables.run_config import RunResult, failed

Parcel = tuple[Job, Any]  # the job and a handle to the shared part of its data


class Mailbox:
    """Hands jobs to slots and takes their results. All methods may be called from any thread.

    A job whose slot died goes to the front of the queue again, to be resumed from its checkpoint by whichever slot is
    free first; after `max_attempts` starts it is a failed run.

    Args:
        max_attempts: how often a job may be started.
    """

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts
        self._waiting: deque[Parcel] = deque()
        self._training: dict[int, tuple[Parcel, float]] = {}
        self._worker: dict[int, str] = {}
        self._results: list[RunResult] = []
        self._closed = False
        self._changed = threading.Condition()  # its lock is re-entrant: methods call each other under it

    def post(self, parcel: Parcel) -> None:
        """Queue a job."""
        with self._changed:
            self._waiting.append(parcel)
            self._changed.notify_all()

    def put(self, result: RunResult) -> None:
        """Take a result that no slot brings."""
        with self._changed:
            self._results.append(result)
            self._changed.notify_all()

    def take(self, slot: int, worker: str, result: RunResult | None, timeout: float) -> Parcel | bool:
        """Bring the slot's last result and get its next job; True to ask again, False when there will be none.

        `worker` names the slot's process: the call of one that died while it waited is still here when the next one
        calls, and must not be given a job.
        """
        with self._changed:
            if result is not None:
                self._training.pop(slot, None)
                self.put(result)
            self.lost(slot)
            self._worker[slot] = worker
            self._changed.wait_for(lambda: self._waiting or self._closed or self._worker.get(slot) != worker, timeout)
            if self._worker.get(slot) != worker:
                return False
            if not self._waiting:
                return not self._closed
            parcel = self._waiting.popleft()
            self._training[slot] = (parcel, time.time())
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
                reason = f"the worker died in each of {job.attempts} attempts"
                self.put(failed(job.config, reason, started=started, attempts=job.attempts))

    def collect(self, timeout: float) -> list[RunResult]:
        """The results since the last call; waits up to `timeout` seconds for the first one."""
        with self._changed:
            self._changed.wait_for(lambda: self._results, timeout)
            results, self._results = self._results, []
            return results

    def close(self) -> None:
        """No job will follow: slots that ask are sent home."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()


class MailboxAddress:
    """Where a mailbox can be reached; travels to the slots.

    Args:
        host, port: of the server in the driver.
        key: authenticates both sides.
    """

    def __init__(self, host: str, port: int, key: bytes) -> None:
        self.host, self.port, self.key = host, port, key

    def connect(self) -> Any:
        """A proxy of the mailbox, for one thread."""
        manager = _Manager((self.host, self.port), authkey=self.key)
        manager.connect()
        return manager.mailbox()  # type: ignore[attr-defined]  # registered below


class _Manager(BaseManager):
    """Serves one mailbox."""


_Manager.register("mailbox")


def serve(mailbox: Mailbox, host: str) -> MailboxAddress:
    """Make a mailbox reachable at this host's address, from threads that end with the process."""
    key = secrets.token_bytes(32)

    class Serving(BaseManager):
        """Knows this mailbox; `_Manager` knows only the name."""

    give: Callable[[], Mailbox] = lambda: mailbox  # noqa: E731 - the registry wants a callable
    Serving.register("mailbox", callable=give, exposed=("take",))
    server = Serving((host, 0), authkey=key).get_server()
    threading.Thread(target=server.serve_forever, name="mailbox", daemon=True).start()
    address: Any = server.address
    return MailboxAddress(host, address[1], key)
