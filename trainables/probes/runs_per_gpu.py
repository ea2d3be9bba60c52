"""How many runs share a GPU best: copies of a run train at once, each in a process of its own, for some seconds.

Where seeds train together, a copy is a seed group. On a GPU that one run leaves idle, several give more steps per
second together; on a busy one they only take turns and memory. The same measurement runs on a CPU, where it is tested.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

import torch

from setsweep.data import base_settings, data_of_run, load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import MOST_MEMORY, memory_in_use, product_precision
from setsweep.trainables.probes.seed_group_size import seed_group_size
from setsweep.trainables.probes.steps import StepTimer

Seeds = int | Literal["auto"]

CANDIDATES = (1, 2, 4, 8)
WORTH_IT = 1.05  # more runs at once must give this many times the steps, since each of them takes longer
WARM_UP_SECONDS = 0.5
START_SECONDS = 300.0


@dataclass(frozen=True)
class Shared:
    """What a number of runs at once gave.

    Args:
        steps_per_second: of all of them together; 0 where one ran out of memory.
        memory: the share of the device's memory that they held, 0 to 1; 0 on a CPU.
    """

    steps_per_second: float
    memory: float = 0.0


def runs_per_gpu(
    configs: Sequence[RunConfig],
    *,
    seeds: Seeds = 1,
    root: str | None = None,
    download: bool = False,
    seconds: float = 3.0,
    candidates: Sequence[int] = CANDIDATES,
) -> int:
    """How many jobs of this configuration are best trained at once on one device.

    Args:
        configs: complete, equal but for the seed; `training.device` says on what.
        seeds: how many of them one job trains together, see `trainables.probes.seed_group_size.seed_group_size`.
        root: where the data files lie, see `data.load_dataset`.
        download: fetch data files that are missing.
        seconds: of training for each candidate.
        candidates: ascending numbers of runs.

    Raises:
        RuntimeError: a process could not train at all; its error is in the message.
    """
    members: list[_Member] = []

    def measure(runs: int) -> Shared:
        try:
            return together(runs)
        except RuntimeError:
            if runs == candidates[0]:
                raise
            return Shared(0.0)  # what one could do, so many could not: there is no room for them

    def together(runs: int) -> Shared:
        nonlocal seeds
        new = [_Member(configs, seeds, root, download) for _ in range(runs - len(members))]
        members.extend(new)
        for member in new:
            seeds = member.receive()["seeds"]  # what the first has found the others are told
        warm_up = _train(members, WARM_UP_SECONDS)
        return _train(members, seconds) if warm_up.steps_per_second else warm_up

    try:
        return most_useful(measure, candidates)
    finally:
        for member in members:
            member.stop()


def most_useful(measure: Callable[[int], Shared], candidates: Sequence[int] = CANDIDATES) -> int:
    """The number of runs at once after which more are not worth it; `measure` is asked for no more than it takes."""
    chosen, best = candidates[0], 0.0
    for runs in candidates:
        shared = measure(runs)
        if shared.memory > MOST_MEMORY or shared.steps_per_second <= best * WORTH_IT:
            break
        chosen, best = runs, shared.steps_per_second
        if shared.memory * 2 > MOST_MEMORY:
            break  # the next candidate, with twice the runs, would not fit
    return chosen


def _train(members: Sequence[_Member], seconds: float) -> Shared:
    """What the members do together in so many seconds."""
    start = time.time() + 0.2  # time for the word to reach all of them
    for member in members:
        member.connection.send((start, seconds))
    reports = [member.receive() for member in members]
    if any(report["steps"] is None for report in reports):
        return Shared(0.0)
    return Shared(sum(report["steps"] for report in reports) / seconds, max(report["memory"] for report in reports))


class _Member:
    """A process that trains when told to. It reports once when it is ready, then after each training."""

    def __init__(self, configs: Sequence[RunConfig], seeds: Seeds, root: str | None, download: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, configs, seeds, root, download), daemon=True)
        self._process.start()
        theirs.close()

    def receive(self) -> Mapping[str, Any]:
        """The process's next report."""
        if not self.connection.poll(START_SECONDS):
            raise RuntimeError(f"a probe of the device must answer within {START_SECONDS:.0f} s, got nothing.")
        try:
            report: Mapping[str, Any] = self.connection.recv()
        except EOFError:
            raise RuntimeError("a probe of the device must go on, got the end of its process.") from None
        if "error" in report:
            raise RuntimeError(f"a probe of the device must train, got {report['error']}")
        return report

    def stop(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _serve(
    connection: Connection, configs: Sequence[RunConfig], asked: Seeds, root: str | None, download: bool
) -> None:
    """The life of a probe's process: prepare, then train whenever a start and a duration come."""
    try:
        torch.set_num_threads(1)
        datasets = _datasets(configs, root, download)
        seeds = seed_group_size(configs, datasets, asked)
        timer = StepTimer(configs[:seeds], datasets[:seeds])
        connection.send({"seeds": seeds})
        with product_precision(configs[0].training.precision):
            while True:
                start, seconds = connection.recv()
                time.sleep(max(0.0, start - time.time()))
                connection.send(_trained(timer, until=start + seconds))
    except EOFError:
        return  # nobody asks any more
    except Exception as error:  # noqa: BLE001 - told to the process that asks
        connection.send({"error": f"{type(error).__name__}: {error}"})


def _trained(timer: StepTimer, *, until: float) -> dict[str, Any]:
    """Steps taken until a time, None where the memory ran out, and the share of the memory in use."""
    try:
        return {"steps": timer.steps(until=until), "memory": memory_in_use(timer.device)}
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return {"steps": None, "memory": 1.0}


def _datasets(configs: Sequence[RunConfig], root: str | None, download: bool) -> list[Dataset]:
    """The data of each seed, what they share loaded once."""
    data = configs[0].data
    if data_of_run(data, seed=0) is not data:
        return [load_dataset(data, seed=config.seed, root=root, download=download) for config in configs]
    base = None if base_settings(data) is None else load_base(data, root=root, download=download)
    return [load_dataset(config.data, seed=config.seed, base=base) for config in configs]
