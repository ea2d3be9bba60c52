"""How slots and driver talk: by calls of Ray to an actor beside the driver, which hands them on.

A call of a slot waits in the actor until the driver has answered it. All that counts is kept by the driver: an actor
that dies is started again by Ray, which then makes the calls anew that had no answer yet, and the driver knows again
which of them it has answered. There is no port but Ray's own, and its authentication and encryption hold.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import ray
from ray import cloudpickle
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

Send = Callable[[Any], None]
Call = tuple[str, bytes]  # its name, empty where no answer is wanted, and what it says, pickled

MOST_CALLS = 100_000  # that wait for an answer at a time
AGAIN_SECONDS = 0.2


class Switchboard:
    """The actor. It understands nothing of what is said, so that it need not import it."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._come = asyncio.Event()
        self._answers: dict[str, asyncio.Future[bytes]] = {}

    async def call(self, name: str, said: bytes) -> bytes:
        """A slot asks, and waits for the answer."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[name] = answer
        await self.tell(said, name)
        return await answer

    async def tell(self, said: bytes, name: str = "") -> None:
        """A slot says something to which there is no answer."""
        self._calls.append((name, said))
        self._come.set()

    async def calls(self) -> list[Call]:
        """The driver takes what slots have said; waits for the first."""
        await self._come.wait()
        self._come.clear()
        calls, self._calls = self._calls, []
        return calls

    async def answer(self, name: str, said: bytes) -> None:
        """The driver answers."""
        answer = self._answers.pop(name, None)
        if answer is not None and not answer.done():
            answer.set_result(said)


class Exchange:
    """The driver's end.

    Args:
        receive: called with what a slot says and with how to answer it, once a call; it must not wait. It is called
            from a thread of the exchange, and may answer from any.

    Attributes:
        name: by which slots reach it, see `Line`.
        error: what `receive` has raised, if anything.
    """

    def __init__(self, receive: Callable[[Any, Send], None]) -> None:
        self._receive = receive
        self._last: dict[str, tuple[str, bytes | None]] = {}  # of each line: its call, and the answer if there is one
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.error: Exception | None = None
        self.name = f"setsweep-{uuid.uuid4().hex}"
        here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "max_concurrency": MOST_CALLS}
        self._switchboard: Any = (
            ray.remote(Switchboard).options(name=self.name, scheduling_strategy=here, **options).remote()
        )
        self._thread = threading.Thread(target=self._listen, name="exchange", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more. Calls without an answer end in an error."""
        self._closed.set()
        self._switchboard.tell.remote(b"")  # wakes the thread
        self._thread.join()
        ray.kill(self._switchboard)

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                calls: list[Call] = ray.get(self._switchboard.calls.remote())
            except ray.exceptions.RayError:  # closed; or it starts again
                self._closed.wait(AGAIN_SECONDS)
                continue
            try:
                for name, said in () if self._closed.is_set() else calls:
                    self._take(name, said)
            except Exception as error:  # noqa: BLE001 - told where it is seen
                self.error = error

    def _take(self, name: str, said: bytes) -> None:
        if not name:
            self._receive(cloudpickle.loads(said), lambda answer: None)
            return
        line = name.partition("/")[0]
        with self._lock:
            last, answer = self._last.get(line, ("", None))
            self._last[line] = (name, answer if name == last else None)
        if name != last:
            self._receive(cloudpickle.loads(said), partial(self._answer, line, name))
        elif answer is not None:
            self._switchboard.answer.remote(name, answer)

    def _answer(self, line: str, name: str, answer: Any) -> None:
        said = pickled(answer)
        with self._lock:
            if self._last[line][0] == name:
                self._last[line] = (name, said)
        self._switchboard.answer.remote(name, said)


class Line:
    """A slot's end, over which one call follows the other.

    Args:
        exchange: the exchange's name.

    Raises:
        ValueError: there is none of that name (any more).
    """

    def __init__(self, exchange: str) -> None:
        self._switchboard: Any = ray.get_actor(exchange)
        self._name, self._numbers = uuid.uuid4().hex, itertools.count()

    def ask(self, question: Any) -> Any:
        """What the driver answers. Raises ray.exceptions.RayError: it has gone."""
        name = f"{self._name}/{next(self._numbers)}"
        said: Any = ray.get(self._switchboard.call.remote(name, pickled(question)))
        return cloudpickle.loads(said)

    def tell(self, news: Any) -> None:
        """Say what wants no answer."""
        self._switchboard.tell.remote(pickled(news))


def pickled(what: Any) -> bytes:
    """What is sent, as bytes: functions of scripts included."""
    data: bytes = cloudpickle.dumps(what)  # type: ignore[no-untyped-call]  # Ray has no annotation here
    return data
