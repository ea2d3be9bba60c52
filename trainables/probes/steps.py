"""Steps of training and pieces of evaluation, taken for their time: what probes measure and forecasts are made of."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import torch

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch, TrainingFeed, evaluation_batches
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import find_device, product_precision
from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.initial import training_feed

SYNC_STEPS = 8


class StepTimer:
    """Steps of a seed group that take their time and change no weight: their learning rate is 0, so no seed diverges.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each.

    Attributes:
        device: where the steps are taken.
        steps_per_epoch: how many an epoch has.
    """

    def __init__(self, configs: Sequence[RunConfig], datasets: Sequence[Dataset]) -> None:
        self.device = device = find_device(configs[0].training.device)
        self._datasets = datasets
        self._learner = build_learner(configs, datasets, device)
        feeds = [training_feed(config, dataset, device) for config, dataset in zip(configs, datasets, strict=True)]
        self.steps_per_epoch = feeds[0].steps
        self._batches = zip(*map(_endless, feeds), strict=True)

    def seconds(self, steps: int) -> float:
        """What so many steps cost, their batches included: CPU time on a CPU, time on a GPU."""
        start = self._spent()
        for _ in range(steps):
            self._learner.step(next(self._batches), 0.0)
        return self._spent() - start

    def steps(self, *, until: float) -> int:
        """How many steps are taken until a Unix time; at least one."""
        taken = 0
        while True:
            loss = self._learner.step(next(self._batches), 0.0)
            taken += 1
            if taken % SYNC_STEPS == 0:
                loss.tolist()  # wait for the device: steps in its queue don't count
            if time.time() >= until:
                return taken

    @torch.inference_mode()
    def evaluation_seconds(self, *, until: float) -> float:
        """The time that scoring one example of each seed takes, from pieces of the validation split; at least one."""
        start, examples = time.time(), 0
        for pieces in zip(*(evaluation_batches(each, each.val, self.device) for each in self._datasets), strict=True):
            scores = self._learner.scores([inputs for inputs, _ in pieces])
            scores[0].sum().tolist()  # wait for the device
            examples += len(scores[0])
            if time.time() >= until:
                break
        return (time.time() - start) / examples

    def _spent(self) -> float:
        if self.device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize(self.device)
        return time.perf_counter()


def _endless(feed: TrainingFeed) -> Iterator[Batch]:
    """Epoch after epoch. No method, whose object would wait, with a learner's memory, for the collection of cycles."""
    while True:
        yield from feed.epoch()


def run_seconds(configs: Sequence[RunConfig], datasets: Sequence[Dataset], *, seconds: float) -> float:
    """A seed's share of the time that a seed group trains, from some steps and pieces of an evaluation.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each.
        seconds: that the measurement takes.

    Raises:
        torch.OutOfMemoryError: they need more memory than there is.
    """
    training = configs[0].training
    with product_precision(training.precision):
        timer = StepTimer(configs, datasets)
        timer.steps(until=time.time() + seconds / 4)  # the first take longer
        start = time.time()
        steps = timer.steps(until=start + seconds / 2)
        step = (time.time() - start) / steps
        example = timer.evaluation_seconds(until=time.time() + seconds / 4)
    examples = training.epochs / training.evaluate_every * len(datasets[0].val)
    examples += len(datasets[0].test) if configs[0].test else 0
    return (training.epochs * timer.steps_per_epoch * step + examples * example) / len(configs)
