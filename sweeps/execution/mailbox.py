"""The mailbox between the driver and the slots: jobs one way, results the other.

It lives in the driver, so that it can't be lost while the sweep goes on; slots on any host call it over connections
that are authenticated with a key that only this sweep's slots are given.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from sweeps.execution.executor import Job, Outcome, SeedsAtOnce
from trainables.run_config import failed

Parcel = tuple[Job, Any]  # the job and a handle to the shared part of its data


class Mailbox:
    """Hands jobs to slots and takes their outcomes. All methods may be called from any thread.

    A job whose slot died goes to the front of the queue again, to be resumed from its checkpoint by whichever slot is
    free first; after `max_attempts` starts its runs have failed.

    Args:
        max_attempts: how often a job may be started.
    """

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts
        self.retired = 0  # slots that went home for want of memory
        self._waiting: deque[Parcel] = deque()
        self._training: dict[int, tuple[Parcel, float]] = {}
        self._worker: dict[int, str] = {}
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

    def take(self, slot: int, worker: str, outcomes: Iterable[Outcome], timeout: float) -> Parcel | bool:
        """Bring what the slot's last job gave and get its next one; True to ask again, False when there is none left.

        `worker` names the slot's process: the call of one that died while it waited is still here when the next one
        calls, and must not be given a job.
        """
        with self._changed:
            if outcomes:
                self._training.pop(slot, None)
                self.put(outcomes)
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
                self.put(failures(job, f"the worker died in each of {job.attempts} attempts", started=started))

    def crowded(self, slot: int) -> bool:
        """The slot's job ran out of a memory that it shares with other slots.

        Returns:
            True: the job goes to another slot, and this one must go home, so that fewer share the memory. False: no
            other slot is left, and the failure is the job's own.
        """
        with self._changed:
            if len(self._worker) < 2:
                return False
            self._waiting.appendleft(self._training.pop(slot)[0])
            self._worker.pop(slot)
            self.retired += 1
            self._changed.notify_all()
            return True

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


def failures(job: Job, reason: str, *, started: float) -> list[Outcome]:
    """What a job gives that could not be done: failed runs, or a probe that recommends nothing."""
    if job.probe:
        return [SeedsAtOnce(key=job.key, seeds=1)]
    return [failed(config, reason, started=started, attempts=job.attempts) for config in job.configs]


class MailboxAddress:
    """Where a mailbox can be reached; travels to the slots.

    Args:
        host, port: of the server in the driver.
        key: authenticates both sides.
    """

    def __init__(self, host: str, port: int, key: bytes) -> None:
        self.host, self.port, self.key = host, port, key

    def connect(self) -> RemoteMailbox:
        """The mailbox as seen from another process, for one thread."""
        return RemoteMailbox(Client((self.host, self.port), authkey=self.key))


class RemoteMailbox:
    """The mailbox as a slot sees it: one connection, over which one call follows the other.

    A call raises EOFError or OSError when the driver has gone.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, slot: int, worker: str, outcomes: Iterable[Outcome], timeout: float) -> Parcel | bool:
        """See `Mailbox.take`."""
        answer: Parcel | bool = self._call("take", slot, worker, outcomes, timeout)
        return answer

    def crowded(self, slot: int) -> bool:
        """See `Mailbox.crowded`."""
        answer: bool = self._call("crowded", slot)
        return answer

    def _call(self, method: str, *arguments: Any) -> Any:
        self._connection.send((method, arguments))
        return self._connection.recv()


def serve(mailbox: Mailbox, host: str) -> MailboxAddress:
    """Make a mailbox reachable at this host's address, from threads that end with the process.

    A plain connection for each slot: a proxy of `multiprocessing.managers` opens five before it brings the first job,
    each of which waits for an acknowledgement that the other side delays, 0.2 seconds together.
    """
    key = secrets.token_bytes(32)
    listener = Listener((host, 0), backlog=128, authkey=key)
    threading.Thread(target=_accept, args=(listener, mailbox), name="mailbox", daemon=True).start()
    address: Any = listener.address
    return MailboxAddress(host, address[1], key)


def _accept(listener: Listener, mailbox: Mailbox) -> None:
    while True:
        with contextlib.suppress(AuthenticationError, EOFError, OSError):  # whoever has not the key is no slot
            connection = listener.accept()
            threading.Thread(target=_answer, args=(connection, mailbox), name="mailbox-slot", daemon=True).start()


def _answer(connection: Connection, mailbox: Mailbox) -> None:
    """Answer a slot's calls until it has gone."""
    methods: dict[str, Callable[..., Any]] = {"take": mailbox.take, "crowded": mailbox.crowded}
    with connection, contextlib.suppress(EOFError, OSError):
        while True:
            method, arguments = connection.recv()
            connection.send(methods[method](*arguments))
