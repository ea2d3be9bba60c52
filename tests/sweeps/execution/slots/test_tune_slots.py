"""Slots on a real Ray cluster whose nodes come and go: in one group of processes, as Ray's own tests make them."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.util import placement_group_table

from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.ray_executor import RayExecutor
from setsweep.trainables.config.run_result import RunResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PATIENCE = 150.0  # on a machine with much else to do


class Nodes:
    """See nodes.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def add(self, cpus: int) -> str:
        return self._ask("add", cpus)

    def drain(self, node: str) -> None:
        assert self._ask("drain", node) == "drains"

    def kill(self, node: str) -> None:
        assert self._ask("kill", node) == "killed"

    def _ask(self, *words: object) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*words, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster whose head has no CPU for runs, and no other node yet; this process is connected to it."""
    command = [sys.executable, str(Path(__file__).with_name("nodes.py"))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        ray.init(address=process.stdout.readline().strip(), log_to_driver=False, logging_level=logging.ERROR)
        yield Nodes(process)
        ray.shutdown()


class Watched:
    """An executor, and what has come of it.

    Attributes:
        results: by run key.
    """

    def __init__(self, executor: RayExecutor) -> None:
        self.executor, self.results = executor, dict[str, Outcome]()

    def until(self, condition: Callable[[], bool]) -> float:
        """Take results until a condition holds; the seconds that it took."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < PATIENCE, (self.executor._mailbox.load, self.executor._slots.trials)
            self.results |= {outcome.key: outcome for outcome in self.executor.wait(0.1)}
        return time.monotonic() - began

    def training(self) -> int:
        """How many jobs are being trained."""
        return self.executor._mailbox.load.training


def _groups(*states: str) -> int:
    """How many placement groups are in these states."""
    return sum(group["state"] in states for group in placement_group_table().values())


def _held() -> int:
    return _groups("PENDING", "CREATED")


def _jobs(make_job: Any, folder: Path, count: int, epochs: int) -> list[Job]:
    training = {"epochs": epochs, "batch_size": 64, "evaluate_every": epochs}
    return [make_job(seed, training=training, checkpoint=folder / f"{seed}.pt") for seed in range(count)]


def test_slots_follow_the_cluster_and_no_step_is_lost_on_a_node_that_drains(
    nodes: Nodes, make_job: Any, tmp_path: Path
) -> None:
    with contextlib.closing(RayExecutor(max_slots=3, idle_seconds=1)) as executor:
        watched = Watched(executor)
        jobs = _jobs(make_job, tmp_path, count=2, epochs=10_000)
        for job in jobs:
            executor.submit(job)
        watched.until(lambda: _groups("PENDING") == 2)  # what an autoscaler acts on: no more than jobs that wait
        assert (executor.slots, executor.room, watched.training()) == (1, 4, 0)
        first = nodes.add(1)
        watched.until(lambda: watched.training() == 1)
        second = nodes.add(1)
        watched.until(lambda: watched.training() == 2)
        assert executor.slots == 2
        nodes.drain(second)
        watched.until(lambda: watched.training() == 1)
        assert (tmp_path / "1.pt").exists()  # on a slow machine that of the other too, after its first minute
        assert executor.slots == 1
        assert [parcel.job for parcel in executor._mailbox._waiting] == [jobs[1]]  # the same attempt
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.pt", "1.pt"]  # closed: all have stopped cleanly
    assert _held() == 0
    for node in (first, second):
        nodes.kill(node)


def test_a_node_that_is_lost_costs_no_attempt_and_nothing_is_held_when_none_waits(
    nodes: Nodes, make_job: Any, tmp_path: Path
) -> None:
    with contextlib.closing(RayExecutor(idle_seconds=1, max_attempts=1)) as executor:
        watched = Watched(executor)
        first, second = (nodes.add(2) for _ in range(2))
        for job in _jobs(make_job, tmp_path, count=8, epochs=300):
            executor.submit(job)
        watched.until(lambda: watched.training() == 4)
        nodes.kill(second)
        watched.until(lambda: len(watched.results) == 8)
        for result in watched.results.values():
            assert isinstance(result, RunResult)
            assert (result.status, result.attempts) == ("done", 1), result
        watched.until(lambda: _held() == 0)
        executor.submit(_jobs(make_job, tmp_path, count=9, epochs=2)[8])  # and there is a slot again when one waits
        watched.until(lambda: len(watched.results) == 9)
    nodes.kill(first)
