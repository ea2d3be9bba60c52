"""Training that goes on until it is told to stop: what forecasts and probes measure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import evaluation_batches
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import find_device, memory_in_use
from setsweep.trainables.learners.optimizers import learning_rate
from setsweep.trainables.learners.parts import training_feed
from setsweep.trainables.probes.seeds_at_once import build_learner

SYNC_STEPS = 8


class EndlessTraining:
    """Training without an end and without evaluations, to see what it takes.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each.
    """

    def __init__(self, configs: Sequence[RunConfig], datasets: Sequence[Dataset]) -> None:
        training = configs[0].training
        self._device = device = find_device(training.device)
        self._datasets = datasets
        self._learner = build_learner(configs, datasets, device)
        self._feeds = [
            training_feed(config, dataset, device) for config, dataset in zip(configs, datasets, strict=True)
        ]
        self._lr = learning_rate(training, epoch=0, batch_size=self._feeds[0].batch_size)

    def train(self, *, until: float) -> dict[str, Any]:
        """Steps taken until a time, None where the memory ran out, and the share of the memory in use."""
        steps = 0
        try:
            while True:
                for batches in zip(*(feed.epoch() for feed in self._feeds), strict=True):
                    loss = self._learner.step(batches, self._lr)
                    steps += 1
                    if steps % SYNC_STEPS == 0:
                        loss.tolist()  # wait for the device: steps in its queue don't count
                    if time.time() >= until:
                        return {"steps": steps, "memory": memory_in_use(self._device)}
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return {"steps": None, "memory": 1.0}

    @property
    def steps_per_epoch(self) -> int:
        """How many steps an epoch has."""
        return self._feeds[0].steps

    @torch.inference_mode()
    def evaluation_seconds(self, *, until: float) -> float:
        """The time that scoring one example of each seed takes, from pieces of the validation split."""
        start, examples = time.time(), 0
        for pieces in zip(*(evaluation_batches(each, each.val, self._device) for each in self._datasets), strict=True):
            scores = self._learner.scores([inputs for inputs, _ in pieces])
            scores[0].sum().tolist()  # wait for the device
            examples += len(scores[0])
            if time.time() >= until:
                break
        return (time.time() - start) / examples
