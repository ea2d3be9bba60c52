"""What a message between a slot and the driver takes: through Ray, as in a sweep, and over a plain socket beside it.

    python tests/benchmarks/sweep/messages.py

Two slots on one machine ask 200 times each, with the 20 KB of a result, and are answered with the 3 KB of a job.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import ray

from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.slots.exchange import Exchange, Line

RESULT, JOB, TIMES = b"r" * 20_000, b"j" * 3_000, 200


def by_ray(exchange: str) -> Callable[[bytes], Any]:
    """How a slot asks through Ray."""
    return Line(exchange).ask


def by_socket(address: Any) -> Callable[[bytes], Any]:
    """How a slot asks over a connection of its own."""
    connection = Client(address)
    at_once(connection)

    def ask(said: bytes) -> Any:
        connection.send(said)
        return connection.recv()

    return ask


def at_once(connection: Connection) -> None:
    """Have messages sent without waiting for an acknowledgement of the one before, which the other side delays."""
    with socket.socket(fileno=os.dup(connection.fileno())) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@ray.remote
def slot(connect: Callable[[Any], Callable[[bytes], Any]], where: Any) -> list[float]:
    """The seconds of each message, sorted."""
    ask = connect(where)
    ask(RESULT)
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        ask(RESULT)
        took.append(time.perf_counter() - began)
    return sorted(took)


def serve(listener: Listener) -> None:
    """Answer every connection in a thread."""

    def answer(connection: Connection) -> None:
        at_once(connection)
        try:
            while connection.recv():
                connection.send(JOB)
        except EOFError:
            return

    while True:
        threading.Thread(target=answer, args=(listener.accept(),), daemon=True).start()


def main() -> None:
    """Measure and print, twice each."""
    cluster.connect(None, cpus=2)
    listener = Listener(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    exchange = Exchange(lambda said, answer: answer(JOB))
    print("| by | median, ms | 95 %, ms | driver's CPU, ms |\n| --- | --- | --- | --- |")
    for _ in range(2):
        for name, connect, where in (("Ray", by_ray, exchange.name), ("socket", by_socket, listener.address)):
            began = time.process_time()
            slots = ray.get([slot.remote(connect, where) for _ in range(2)])
            took = sorted(each for of_slot in slots for each in of_slot)
            cpu = (time.process_time() - began) / len(took)
            print(
                f"| {name} | {1e3 * took[TIMES]:.2f} | {1e3 * took[int(1.9 * TIMES)]:.2f} | {1e3 * cpu:.2f} |",
                flush=True,
            )
    exchange.close()
    cluster.disconnect()


if __name__ == "__main__":
    main()
