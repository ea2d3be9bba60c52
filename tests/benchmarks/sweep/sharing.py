"""How two studies share a cluster, and what a small one waits beside a large one.

    python tests/benchmarks/sweep/sharing.py [--slots 4] [--seconds 2]

starts a Ray cluster of several nodes on this machine, on it two drivers whose runs sleep, and prints for seconds after
the second one's arrival how many slots each has, with Jain's index of fairness; then how long a small study takes by
itself on its half of the slots, and beside a large one on all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ray.cluster_utils import Cluster

DRIVER = Path(__file__).with_name("sleeping.py")
SETTLED, WATCHED = 60.0, 60.0  # seconds after the second study's arrival

Span = tuple[float, float]  # when a run began and ended


@contextmanager
def nodes(*cpus: int) -> Iterator[Cluster]:
    """A cluster whose head trains nothing, with nodes of so many CPUs."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for each in cpus:
        cluster.add_node(num_cpus=each)
    yield cluster
    cluster.shutdown()


class Driver:
    """A process whose runs sleep; see `sleeping.py`.

    Attributes:
        arrived: when it was there.
    """

    def __init__(self, cluster: Cluster, runs: int, seconds: float, **options: object) -> None:
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._process = subprocess.Popen(
            [sys.executable, str(DRIVER), cluster.address, str(runs), str(seconds), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self._said = self._process.stdout
        self.arrived: float = json.loads(self._said.readline())

    def wait(self) -> list[Span]:
        """Its runs, when all have ended."""
        with self._process:
            return [_span(line) for line in self._said]

    def stop(self) -> list[Span]:
        """Its runs until now."""
        self._process.terminate()
        return self.wait()

    def first(self) -> Span:
        """Its first run, when that has ended."""
        return _span(self._said.readline())


def _span(line: str) -> Span:
    began, ended = json.loads(line)
    return began, ended


def training(runs: Sequence[Span], since: float, until: float) -> float:
    """How many slots trained these runs at once, on the mean of a time."""
    return sum(max(0.0, min(ended, until) - max(began, since)) for began, ended in runs) / (until - since)


def jain(parts: Sequence[float]) -> float:
    """1 where all are equal, 1 / n where one has everything (Jain, Chiu, Hawe 1984)."""
    return sum(parts) ** 2 / (len(parts) * sum(part**2 for part in parts))


def equal_halves(slots: int, seconds: float) -> None:
    """Two studies of equal share, the second 30 s later."""
    with nodes(slots // 2, slots - slots // 2) as cluster:
        first = Driver(cluster, 10_000, seconds)
        first.first()
        time.sleep(20)
        second = Driver(cluster, 10_000, seconds)
        arrived = second.arrived
        time.sleep(SETTLED + WATCHED)
        runs = [driver.stop() for driver in (first, second)]
    print("| seconds after the second's arrival | first | second | Jain's index |\n| --- | ---: | ---: | ---: |")
    for since, until in ((0, 15), (15, 30), (30, 45), (45, 60), (SETTLED, SETTLED + WATCHED)):
        parts = [training(each, arrived + since, arrived + until) for each in runs]
        print(f"| {since:g} to {until:g} | {parts[0]:.2f} | {parts[1]:.2f} | {jain(parts):.3f} |", flush=True)


def small_beside_large(slots: int, seconds: float, runs: int) -> None:
    """A small study by itself on half of the slots, and beside a large one."""
    with nodes(slots // 2) as cluster:
        alone = Driver(cluster, runs, seconds)
        took = max(ended for _, ended in alone.wait()) - alone.arrived
    with nodes(slots // 2, slots - slots // 2) as cluster:
        large = Driver(cluster, 10_000, seconds)
        large.first()
        time.sleep(10)
        small = Driver(cluster, runs, seconds)
        beside = max(ended for _, ended in small.wait()) - small.arrived
        large.stop()
    print(
        f"\n{runs} runs of {seconds:g} s: {took:.1f} s on {slots // 2} slots alone, "
        f"{beside:.1f} s beside a large study on {slots}: {beside / took:.2f}"
    )


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--runs", type=int, default=40, help="of the small study")
    given = parser.parse_args()
    equal_halves(given.slots, given.seconds)
    small_beside_large(given.slots, given.seconds, given.runs)


if __name__ == "__main__":
    main()
