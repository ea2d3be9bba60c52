"""How slots and driver talk, over a real Ray."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import ray

from setsweep.sweeps.execution import news
from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.execution.slots.exchange import Exchange, Line, Send

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(120)]


class Driver:
    """A driver that answers when it is told to.

    Attributes:
        heard: what was said, with the answers to come.
    """

    def __init__(self) -> None:
        self.heard: list[tuple[Any, Send]] = []
        self._come = threading.Condition()
        self.exchange = Exchange(self._receive)

    def _receive(self, said: Any, answer: Send) -> None:
        with self._come:
            self.heard.append((said, answer))
            self._come.notify_all()

    def wait(self, calls: int) -> None:
        with self._come:
            assert self._come.wait_for(lambda: len(self.heard) >= calls, timeout=30)


@pytest.fixture
def driver() -> Iterator[Driver]:
    """One with an exchange of its own."""
    made = Driver()
    yield made
    made.exchange.close()


def test_who_asks_is_answered_when_the_driver_has_an_answer_and_keeps_nobody_waiting(driver: Driver) -> None:
    lines = [Line(driver.exchange.name) for _ in range(3)]
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(line.ask, number) for number, line in enumerate(lines)]
        driver.wait(3)
        answers = dict(driver.heard)
        for number in (2, 0, 1):
            assert not asked[number].done()
            answers[number]({"twice": 2 * number})
            assert asked[number].result(timeout=30) == {"twice": 2 * number}


@pytest.mark.parametrize("answered", [False, True])
def test_a_call_whose_actor_dies_is_heard_once_and_answered_all_the_same(driver: Driver, *, answered: bool) -> None:
    """Before the driver has answered; and after it has, while that was on its way."""
    line = Line(driver.exchange.name)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(line.ask, "a question")
        driver.wait(1)
        ((said, answer),) = driver.heard
        if answered:  # as if the actor had died before it could hand it on
            driver.exchange._last = {name: (call, pickle.dumps("an answer")) for name, (call, _) in _calls(driver)}
        ray.kill(ray.get_actor(driver.exchange.name), no_restart=False)
        if not answered:
            time.sleep(0.5)
            answer("an answer")
        assert (said, asked.result(timeout=60)) == ("a question", "an answer")
    assert len(driver.heard) == 1


def _calls(driver: Driver) -> list[tuple[str, tuple[str, bytes | None]]]:
    return list(driver.exchange._last.items())


def test_telling_takes_less_than_a_hundredth_of_a_slots_time(driver: Driver) -> None:
    """At most one message a second, which may take 10 ms; the median of 50 is held to that."""
    moments = [Moment(key=f"{seed:016x}", epoch=1, epochs=9, metrics={"train/loss": 1.0}) for seed in range(30)]
    line, took = Line(driver.exchange.name), []
    for _ in range(50):
        began = time.perf_counter()
        line.tell(moments)
        took.append(time.perf_counter() - began)
    driver.wait(50)
    assert all(said == moments for said, _ in driver.heard)
    assert sorted(took)[25] < 0.01 * news.TELL_SECONDS


def test_a_closed_exchange_leaves_no_thread_and_cannot_be_called() -> None:
    driver = Driver()
    driver.exchange.close()
    assert "exchange" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(ValueError, match="Failed to look up actor"):
        Line(driver.exchange.name)
