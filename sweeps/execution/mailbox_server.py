"""The mailbox over the network: slots on any host call it over connections that are authenticated with a key that only
this sweep's slots are given.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import Outcome
from setsweep.sweeps.execution.mailbox import Mailbox, Parcel, Worker
from setsweep.sweeps.execution.news import Moment

ACCEPT_AGAIN_SECONDS = 1.0


class MailboxAddress:
    """Where a mailbox can be reached; travels to the slots.

    Args:
        host, port: of the server in the driver.
        key: authenticates both sides.
    """

    def __init__(self, host: str, port: int, key: bytes) -> None:
        self.host, self.port, self.key = host, port, key

    def connect(self) -> RemoteMailbox:
        """The mailbox as seen from another process, for one thread.

        Raises:
            AuthenticationError: the key is another one.
            EOFError, OSError: nobody answers.
        """
        connection = _connection(socket.create_connection((self.host, self.port)))
        answer_challenge(connection, self.key)
        deliver_challenge(connection, self.key)
        return RemoteMailbox(connection)


class RemoteMailbox:
    """The mailbox as a slot sees it: one connection, over which one call follows the other.

    A call raises EOFError or OSError when the driver has gone.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, slot: int, worker: Worker, outcomes: Sequence[Outcome], timeout: float) -> Parcel | Wait | Done:
        """See `Mailbox.take`."""
        answer: Parcel | Wait | Done = self._call("take", slot, worker, outcomes, timeout)
        return answer

    def tell(self, moments: Sequence[Moment]) -> None:
        """See `Mailbox.tell`."""
        self._call("tell", moments)

    def _call(self, method: str, *arguments: Any) -> Any:
        self._connection.send((method, arguments))
        return self._connection.recv()


def serve(mailbox: Mailbox, host: str) -> MailboxAddress:
    """Make a mailbox reachable at this host's address, from threads that end with the process.

    A plain connection for each slot: a proxy of `multiprocessing.managers` opens five before it brings the first job,
    each of which waits for an acknowledgement that the other side delays, 0.2 seconds together.
    """
    key = secrets.token_bytes(32)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.create_server((host, 0), family=family, backlog=128)
    threading.Thread(target=_accept, args=(server, mailbox, key), name="mailbox", daemon=True).start()
    return MailboxAddress(host, server.getsockname()[1], key)


def _accept(server: socket.socket, mailbox: Mailbox, key: bytes) -> None:
    """A thread for each caller, so that one who connects and says nothing keeps no other waiting."""
    while True:
        try:
            plain, _ = server.accept()
        except OSError:  # too many open files, which may pass
            time.sleep(ACCEPT_AGAIN_SECONDS)
            continue
        threading.Thread(target=_answer, args=(plain, mailbox, key), name="mailbox-slot", daemon=True).start()


def _answer(plain: socket.socket, mailbox: Mailbox, key: bytes) -> None:
    """Answer a slot's calls until it has gone; whoever has not the key is no slot."""
    methods: dict[str, Callable[..., Any]] = {"take": mailbox.take, "tell": mailbox.tell}
    with _connection(plain) as connection, contextlib.suppress(AuthenticationError, EOFError, OSError):
        deliver_challenge(connection, key)
        answer_challenge(connection, key)
        while True:
            method, arguments = connection.recv()
            connection.send(methods[method](*arguments))


def _connection(plain: socket.socket) -> Connection:
    """Messages over a socket, sent at once: of a longer one the second part would else wait 0.04 s for the first."""
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(plain.detach())
