"""Several seeds of one configuration in one process: what they learn with, and how many of them pay."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import torch

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch, evaluation_batches
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import find_device, memory_in_use, product_precision
from setsweep.trainables.learners.learner import Learner, SoloLearner
from setsweep.trainables.learners.parts import training_feed
from setsweep.trainables.learners.round_robin import LockstepLearner
from setsweep.trainables.learners.stackable import why_not_stackable
from setsweep.trainables.learners.stacked import StackedLearner

TEAMS = (8, 4, 2, 1)  # into how many teams of one size the seeds may be split
CLEARLY = 0.9  # of the time of a seed by itself: what a seed side by side may take at most
HEADROOM = 0.1  # the share of a GPU's memory that must stay free
LONG_STEP = 0.1  # seconds: with so much to do in a step, a device is busy with one seed
WARM_UP_STEPS, ROUNDS, ROUND_SECONDS, MOST_STEPS = 3, 5, 0.01, 20

_measured: dict[tuple[str, int], int] = {}


def build_learner(configs: Sequence[RunConfig], datasets: Sequence[Dataset], device: torch.device) -> Learner:
    """The learner of one seed, or of several: as one stacked model where that can be, else in turns at every step.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each, of the same sizes.
        device: where they learn.

    Raises:
        ValueError: more than the seed differs.
    """
    if len(configs) == 1:
        return SoloLearner(configs[0], datasets[0], device)
    if len({replace(config, seed=0).key for config in configs}) > 1:
        raise ValueError("configurations side by side must be equal but for the seed, got others.")
    sizes = {tuple(len(split) for split in (each.train, each.val, each.test)) for each in datasets}
    if len(sizes) > 1:
        raise ValueError(f"data sets side by side must be of one size, got (train, val, test) of {sorted(sizes)}.")
    stackable = why_not_stackable(configs[0], datasets[0], device) is None
    return (StackedLearner if stackable else LockstepLearner)(configs, datasets, device)


def seeds_at_once(
    configs: Sequence[RunConfig], datasets: Sequence[Dataset], asked: int | Literal["auto"] = "auto"
) -> int:
    """How many of these seeds should train side by side in one process.

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
        alone = _Steps(configs[:1], datasets[:1], device)
        if min(alone.seconds(1), alone.seconds(1)) > LONG_STEP:
            return 1
        if why_not_stackable(configs[0], datasets[0], device) is not None:
            return 1
        for seeds in sorted({math.ceil(len(configs) / teams) for teams in TEAMS} - {1}):
            try:
                shares[seeds] = _share(alone, _Steps(configs[:seeds], datasets[:seeds], device)) / seeds
            except torch.OutOfMemoryError:
                break
            finally:
                if device.type == "cuda":
                    torch.cuda.empty_cache()
            if shares[seeds] > min(shares.values()):
                break
    best = min(shares, key=lambda seeds: shares[seeds])
    return best if shares[best] < CLEARLY else 1


def _share(alone: _Steps, together: _Steps) -> float:
    """The time of a step together as a multiple of the time of a step alone, each the least of some rounds.

    Raises:
        torch.OutOfMemoryError: there is not enough memory, or little of it would be left.
    """
    number = max(1, min(MOST_STEPS, round(ROUND_SECONDS / alone.seconds(WARM_UP_STEPS) * WARM_UP_STEPS)))
    together.seconds(WARM_UP_STEPS)
    together.evaluate()
    together.check_memory()
    rounds = [(alone.seconds(number), together.seconds(number)) for _ in range(ROUNDS)]
    times, times_together = zip(*rounds, strict=True)
    return float(min(times_together) / min(times))


def _endless(config: RunConfig, dataset: Dataset, device: torch.device) -> Iterator[Batch]:
    """Epoch after epoch. No method, whose object would wait, with a learner's memory, for the collection of cycles."""
    feed = training_feed(config, dataset, device)
    while True:
        yield from feed.epoch()


class _Steps:
    """Steps of training that change nothing: their learning rate is 0, so that no seed diverges."""

    def __init__(self, configs: Sequence[RunConfig], datasets: Sequence[Dataset], device: torch.device) -> None:
        kind = SoloLearner(configs[0], datasets[0], device) if len(configs) == 1 else None
        self._learner: Learner = kind or StackedLearner(configs, datasets, device)
        self._device, self._datasets, self._configs = device, datasets, configs
        feeds = [_endless(*pair, device) for pair in zip(configs, datasets, strict=True)]
        self._batches = zip(*feeds, strict=True)

    def seconds(self, steps: int) -> float:
        """The time of so many steps, their batches included."""
        start = self._now()
        for _ in range(steps):
            self._learner.step(next(self._batches), 0.0)
        return self._now() - start

    def _now(self) -> float:
        if self._device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize(self._device)
        return time.perf_counter()

    @torch.inference_mode()
    def evaluate(self) -> None:
        """Compute the scores of one piece of the validation split, which may need more memory than a step."""
        self._learner.scores([next(evaluation_batches(each, each.val, self._device))[0] for each in self._datasets])

    def check_memory(self) -> None:
        """Raise OutOfMemoryError where the device is almost full."""
        used = memory_in_use(self._device)
        if used > 1 - HEADROOM:
            raise torch.OutOfMemoryError(f"memory in use must be <= {1 - HEADROOM:.0%}, got {used:.0%}.")
