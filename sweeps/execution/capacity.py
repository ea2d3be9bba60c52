"""How many runs a machine has room for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """What a node of a cluster has."""

    cpus: float
    gpus: float = 0.0


def room(machine_cpus: float, machine_gpus: float, *, cpus: float, gpus: float) -> int:
    """How many runs fit. A share of a GPU is of one GPU: what two of them have left makes no third.

    Args:
        machine_cpus, machine_gpus: what there is.
        cpus, gpus: what a run occupies, of CPUs more than 0.
    """
    fits = _times(machine_cpus, cpus)
    if not gpus:
        return fits
    return min(fits, int(machine_gpus) * _times(1, gpus) if gpus < 1 else _times(machine_gpus, gpus))


def _times(whole: float, part: float) -> int:
    return int(whole / part + 1e-6)  # 0.7 / 0.1 is less than 7
