"""How several studies share a cluster: each gets the largest part that leaves none with less than it could have.

Max-min fairness over the resource of which each has the most (dominant resource fairness, Ghodsi et al., NSDI 2011,
algorithm 1), weighted, and node by node, since a slot lies on one node.
"""

from __future__ import annotations

import bisect
import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.execution.capacity import Machine


@dataclass(frozen=True, kw_only=True)
class Want:
    """What a study wants of a cluster.

    Args:
        cpus, gpus: what one of its slots occupies, of CPUs more than 0.
        slots: how many it has work for.
        share: how much it gets beside others: twice as much as one with half of it.
        priority: who has more of it gets all that is wanted before others get any.
    """

    cpus: float
    gpus: float = 0.0
    slots: int = 0
    share: float = 1.0
    priority: int = 0


def fair_parts(wants: Sequence[Want], machines: Sequence[Machine]) -> list[int]:
    """How many slots each study may have, none more than it wants.

    One slot after the other goes to the study that has least of what it has most of, by its share; of equal ones to the
    first. So who comes later should stand later.

    Args:
        wants: of the studies.
        machines: of the cluster.
    """
    free = _rooms(machines)
    parts = [0] * len(wants)
    for priority in sorted({want.priority for want in wants}, reverse=True):
        level = [(0.0, number) for number, want in enumerate(wants) if want.priority == priority]
        steps = {number: _dominant(wants[number], machines) / wants[number].share for _, number in level}
        while level:
            _, number = heapq.heappop(level)
            if parts[number] < wants[number].slots and _place(wants[number], free):
                parts[number] += 1
                heapq.heappush(level, (parts[number] * steps[number], number))
    return parts


def _dominant(want: Want, machines: Sequence[Machine]) -> float:
    """Of the resource of which a slot occupies most, its part of all that there is."""
    cpus, gpus = sum(machine.cpus for machine in machines), sum(machine.gpus for machine in machines)
    return max(want.cpus / cpus if cpus else 0.0, want.gpus / gpus if gpus else 0.0)


@dataclass(frozen=True)
class _Room:
    """What is left of a node; of each of its GPUs, ascending, as a share of a GPU is of one GPU."""

    cpus: float
    gpus: tuple[float, ...]

    def without(self, want: Want) -> _Room | None:
        """What a slot leaves of it; None: it has no room."""
        first = bisect.bisect_left(self.gpus, min(1, want.gpus))
        needed = 0 if not want.gpus else max(1, round(want.gpus))
        if self.cpus < want.cpus or len(self.gpus) - first < needed:
            return None
        taken = [round(left - min(1, want.gpus), 9) for left in self.gpus[first : first + needed]]
        gpus = sorted((*self.gpus[:first], *taken, *self.gpus[first + needed :]))
        return _Room(round(self.cpus - want.cpus, 9), tuple(gpus))


def _rooms(machines: Sequence[Machine]) -> Counter[_Room]:
    """Nodes by what is left of them: a cluster has many nodes, of few kinds."""
    more = 1e-6  # 0.7 / 0.1 is less than 7
    return Counter(_Room(machine.cpus + more, (1 + more,) * int(machine.gpus)) for machine in machines)


def _place(want: Want, free: Counter[_Room]) -> bool:
    """Place a slot on the fullest node that has room, so that large slots find room too."""
    for room in sorted(free, key=lambda room: (sum(room.gpus), room.cpus)):
        left = room.without(want)
        if left is not None:
            free[left] += 1
            free[room] -= 1
            if not free[room]:
                del free[room]
            return True
    return False
