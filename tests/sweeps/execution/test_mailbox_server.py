"""The mailbox over the network: for its own slots alone, and for each of them."""

from __future__ import annotations

import socket
import threading
from multiprocessing import AuthenticationError
from typing import Any

import pytest

from setsweep.sweeps.execution.answers import Wait
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.mailbox import Mailbox, Parcel, Worker
from setsweep.sweeps.execution.mailbox_server import serve
from setsweep.trainables.config.run_config import RunConfig, Training

PARCEL = Parcel(
    Job(
        configs=(
            RunConfig(
                data={"name": "digits"},
                model={"name": "linear"},
                loss={"name": "cross_entropy"},
                training=Training(),
                k=(1,),
                seed=0,
            ),
        )
    )
)


def test_a_mailbox_is_reached_over_the_network_with_its_key_alone() -> None:
    mailbox = Mailbox()
    mailbox.post(PARCEL)
    address = serve(mailbox, "127.0.0.1")
    assert address.connect().take(0, Worker("a"), [], 1.0) == PARCEL
    address.key = b"guessed"
    with pytest.raises(AuthenticationError):
        address.connect()


def test_a_caller_who_says_nothing_keeps_no_slot_waiting() -> None:
    mailbox = Mailbox()
    mailbox.post(PARCEL)
    address = serve(mailbox, "127.0.0.1")
    with socket.create_connection((address.host, address.port)):
        got: list[Any] = []
        slot = threading.Thread(target=lambda: got.append(address.connect().take(0, Worker("a"), [], 1.0)), daemon=True)
        slot.start()
        slot.join(timeout=5)
    assert got == [PARCEL]


@pytest.mark.skipif(not socket.has_ipv6, reason="for machines with IPv6")
def test_a_host_may_have_an_address_of_either_kind() -> None:
    try:
        address = serve(Mailbox(), "::1")
    except OSError:
        pytest.skip("no IPv6 address on this machine")
    assert address.connect().take(0, Worker("a"), [], 0) == Wait()
