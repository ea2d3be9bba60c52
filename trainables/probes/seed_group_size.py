"""How many seeds of a configuration should train together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import MOST_MEMORY, find_device, memory_in_use, product_precision
from setsweep.trainables.learners.stackable import why_not_stackable
from setsweep.trainables.probes.steps import StepTimer

GROUPS = (8, 4, 2, 1)  # into how many groups of one size the seeds may be split
CLEARLY = 0.9  # of the time of a seed by itself: what a seed of a group may take at most
LONG_STEP = 0.1  # seconds: with so much to do in a step, a device is busy with one seed
WARM_UP_STEPS, ROUNDS, ROUND_SECONDS, MOST_STEPS = 3, 5, 0.01, 20

_measured: dict[tuple[str, int], int] = {}


def seed_group_size(
    configs: Sequence[RunConfig], datasets: Sequence[Dataset], asked: int | Literal["auto"] = "auto"
) -> int:
    """How many of these seeds should train together in one process.

    "auto" trains a few steps of one seed by itself and, in turn with it, of an eighth, a quarter, half and all of them,
    as long as more are better, and takes the number that costs least a seed: CPU time on a CPU, time on a GPU. It is 1
    unless others are clearly faster, where they can't be stacked, and where a step alone takes long. What was measured
    holds for the configuration whatever its seed, as long as the process lives.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each.
        asked: a number, of which there may be fewer, or "auto".
    """
    if asked != "auto":
        return min(asked, len(configs))
    key = replace(configs[0], seed=0).key, len(configs)
    if key not in _measured:
        _measured[key] = _measure(configs, datasets) if len(configs) > 1 else 1
    return _measured[key]


def _measure(configs: Sequence[RunConfig], datasets: Sequence[Dataset]) -> int:
    device = find_device(configs[0].training.device)
    shares = {1: 1.0}
    with torch.random.fork_rng(devices=[]), product_precision(configs[0].training.precision):
        if why_not_stackable(configs[0], datasets[0], device) is not None:
            return 1
        alone = StepTimer(configs[:1], datasets[:1])
        if min(alone.seconds(1), alone.seconds(1)) > LONG_STEP:
            return 1
        for seeds in sorted({math.ceil(len(configs) / groups) for groups in GROUPS} - {1}):
            try:
                shares[seeds] = _share(alone, StepTimer(configs[:seeds], datasets[:seeds])) / seeds
            except torch.OutOfMemoryError:
                break
            finally:
                if device.type == "cuda":
                    torch.cuda.empty_cache()
            if shares[seeds] > min(shares.values()):
                break
    best = min(shares, key=lambda seeds: shares[seeds])
    return best if shares[best] < CLEARLY else 1


def _share(alone: StepTimer, together: StepTimer) -> float:
    """The time of a step together as a multiple of the time of a step alone, each the least of some rounds.

    Raises:
        torch.OutOfMemoryError: there is not enough memory, or little of it would be left.
    """
    number = max(1, min(MOST_STEPS, round(ROUND_SECONDS / alone.seconds(WARM_UP_STEPS) * WARM_UP_STEPS)))
    together.seconds(WARM_UP_STEPS)
    together.evaluation_seconds(until=0.0)  # a piece of an evaluation may need more memory than a step
    if (used := memory_in_use(together.device)) > MOST_MEMORY:
        raise torch.OutOfMemoryError(f"memory in use must be <= {MOST_MEMORY:.0%}, got {used:.0%}.")
    rounds = [(alone.seconds(number), together.seconds(number)) for _ in range(ROUNDS)]
    times, times_together = zip(*rounds, strict=True)
    return float(min(times_together) / min(times))
