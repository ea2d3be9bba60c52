"""How soon the slots of a node that joins late are busy, and what a second host brings.

    python tests/benchmarks/sweep/joining.py [--slots 4] [--seconds 2]

starts a Ray cluster of several nodes on this machine, on it a driver whose runs sleep. It prints how long after a node
has joined each of its slots began its first run; then how many runs a minute two nodes do, and one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from sharing import Driver, Span, nodes

RUNS = 10_000  # more than will be done
SETTLE, WATCHED = 10.0, 60.0  # seconds


def busy_since(runs: Sequence[Span], slots: int) -> float:
    """When so many runs were first trained at once."""
    events = sorted([*((began, 1) for began, _ in runs), *((ended, -1) for _, ended in runs)])
    at_once = 0
    for moment, change in events:
        at_once += change
        if at_once == slots:
            return moment
    raise ValueError(f"never {slots} runs at once")


def late(slots: int, seconds: float) -> list[float]:
    """Seconds after a second node has joined, for each of its slots."""
    with nodes(slots) as cluster:
        driver = Driver(cluster, RUNS, seconds)
        driver.first()
        time.sleep(SETTLE)
        cluster.add_node(num_cpus=slots)
        joined = time.time()
        time.sleep(WATCHED)
        runs = driver.stop()
    return [busy_since(runs, slots + number) - joined for number in range(1, slots + 1)]


def a_minute(hosts: int, slots: int, seconds: float) -> float:
    """How many runs are done in a minute, once all slots are busy."""
    with nodes(*[slots] * hosts) as cluster:
        driver = Driver(cluster, RUNS, seconds)
        driver.first()
        time.sleep(SETTLE + WATCHED)
        runs = driver.stop()
    since = busy_since(runs, hosts * slots)
    until = max(ended for _, ended in runs)
    return 60 * sum(since <= began and ended <= until for began, ended in runs) / (until - since)


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=4, help="of a node")
    parser.add_argument("--seconds", type=float, default=2, help="of a run")
    given = parser.parse_args()
    found = late(given.slots, given.seconds)
    print(f"Slots of a late node are busy after {', '.join(f'{each:.1f}' for each in found)} s.", flush=True)
    one, two = (a_minute(hosts, given.slots, given.seconds) for hosts in (1, 2))
    print(f"Runs of {given.seconds:g} s a minute: one host {one:.0f}, two hosts {two:.0f}: {two / one:.2f}")


if __name__ == "__main__":
    main()
