"""What breaks first with many slots: real messages of a thousand that train nothing, through Ray to a real mailbox.

    python tests/benchmarks/sweep/many_slots.py [--slots 1000] [--seconds 10 1 0]

Each slot is a thread of control in one of two processes: it asks for a job with a result of real size, sleeps, and asks
again; another call of it waits to be recalled, as in a sweep. Printed are the results that came in a second, what slots
waited for an answer, and the CPU time that a result took of the driver and of the actor between.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import ray
from ray import cloudpickle
from recording import made_up
from scale import study_of

from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.slots.exchange import Exchange, Send, pickled
from setsweep.sweeps.execution.slots.mailbox import Mailbox
from setsweep.sweeps.execution.slots.messages import Parcel, Place, Take, Watch
from setsweep.sweeps.planning.planner import Planner
from setsweep.trainables.config.run_result import RunResult

PROCESSES = 2
WATCHED = 20.0  # seconds


@ray.remote(num_cpus=0, max_concurrency=4)
class Crowd:
    """Slots of one process."""

    def __init__(self, exchange: str, numbers: range, result: RunResult) -> None:
        self._switchboard: Any = ray.get_actor(exchange)
        self._numbers, self._result = numbers, result
        self._waits: list[float] = []

    async def train(self, seconds: float) -> list[float]:
        """What slots have waited for, in seconds; each run takes `seconds` on the mean."""
        self._waits = []
        slots = [asyncio.ensure_future(self._slot(number, seconds)) for number in self._numbers]
        await asyncio.sleep(WATCHED)
        for slot in slots:
            slot.cancel()
        return self._waits

    async def _slot(self, number: int, seconds: float) -> None:
        name = f"{number}-{time.time_ns()}"
        watching = self._switchboard.call.remote(f"{name}-watch/0", pickled(Watch(number)))
        outcomes: list[RunResult] = []
        await asyncio.sleep(random.random() * seconds)
        for call in itertools.count():
            asked = time.perf_counter()
            said = await self._switchboard.call.remote(f"{name}/{call}", pickled(Take(number, Place("n"), outcomes)))
            self._waits.append(time.perf_counter() - asked)
            cloudpickle.loads(said)
            outcomes = [self._result]
            await asyncio.sleep(random.expovariate(1 / seconds) if seconds else 0)
        del watching


class Driver:
    """A mailbox that never runs out of jobs.

    Attributes:
        taken: how many results have come.
    """

    def __init__(self, job: Job) -> None:
        self._mailbox, self._parcel, self.taken = Mailbox(), Parcel(job), 0
        self.exchange = Exchange(self._receive)

    def _receive(self, said: Any, answer: Send) -> None:
        match said:
            case Take():
                self._mailbox.post(self._parcel)
                self._mailbox.take(said.slot, said.place, said.outcomes, answer)
                self.taken += len(self._mailbox.collect(0))
            case Watch():
                self._mailbox.watch(said.slot, lambda: answer(None))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=1000)
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0, 1.0, 0.0], help="of a run, on the mean")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = study_of(100, 20, Path(folder))
        run = Planner(study).runs()[0][0]
    result = made_up(study, run, time.time())
    cluster.connect(None, cpus=PROCESSES)
    driver = Driver(Job(configs=(run.config,)))
    actor = psutil.Process(
        ray.get(ray.get_actor(driver.exchange.name).__ray_call__.remote(lambda _: __import__("os").getpid()))
    )
    each = given.slots // PROCESSES
    crowds = [Crowd.remote(driver.exchange.name, range(n * each, (n + 1) * each), result) for n in range(PROCESSES)]
    print(f"{given.slots} slots, results of {len(pickled(result))} bytes pickled")
    print("| a run, s | results a second | waited, ms: median | 99 % | driver, ms of CPU | actor, ms of CPU |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for seconds in given.seconds:
        before, mine, theirs = driver.taken, time.process_time(), sum(actor.cpu_times()[:2])
        waits = sorted(wait for crowd in ray.get([crowd.train.remote(seconds) for crowd in crowds]) for wait in crowd)
        taken = driver.taken - before
        cpu = [1e3 * (time.process_time() - mine) / taken, 1e3 * (sum(actor.cpu_times()[:2]) - theirs) / taken]
        print(
            f"| {seconds:g} | {taken / WATCHED:.0f} | {1e3 * statistics.median(waits):.0f} "
            f"| {1e3 * waits[int(0.99 * len(waits))]:.0f} | {cpu[0]:.2f} | {cpu[1]:.2f} |",
            flush=True,
        )
    driver.exchange.close()
    cluster.disconnect()


if __name__ == "__main__":
    main()
