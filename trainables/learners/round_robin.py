"""A seed group whose seeds, each with a learner of its own, take turns at every step.

For models that can't be stacked: it saves nothing, but the result of each seed is, to the last bit, the one of a run by
itself, and one checkpoint holds them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch
from setsweep.data.seeding import derived_seed
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import random_state, seeded, set_random_state
from setsweep.trainables.learners.learner import Weights
from setsweep.trainables.learners.solo import SoloLearner


class RoundRobinLearner:
    """The models of a seed group, one after another; see `trainables.learners.learner.Learner`.

    Each seed has its own state of PyTorch's global generators, as dropout needs.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each.
        device: where they learn.
    """

    def __init__(self, configs: Sequence[RunConfig], datasets: Sequence[Dataset], device: torch.device) -> None:
        self._device = device
        self._random = []
        for config in configs:
            with seeded(derived_seed(config.seed, "model"), device):
                self._random.append(random_state(device))
        self._learners = [SoloLearner(*pair, device) for pair in zip(configs, datasets, strict=True)]

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """See `Learner`."""
        losses = []
        for number, (learner, batch) in enumerate(zip(self._learners, batches, strict=True)):
            with self._turn(number):
                losses.append(learner.step([batch], lr))
        return torch.cat(losses)

    @contextmanager
    def _turn(self, number: int) -> Iterator[None]:
        """Within it PyTorch's global generators are those of one seed."""
        before = random_state(self._device)
        set_random_state(self._random[number], self._device)
        yield
        self._random[number] = random_state(self._device)
        set_random_state(before, self._device)

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """See `Learner`."""
        return [learner.scores([each])[0] for learner, each in zip(self._learners, inputs, strict=True)]

    def heads(self, inputs: Sequence[Tensor]) -> Sequence[tuple[Tensor, ...]]:
        """See `Learner`."""
        return [learner.heads([each])[0] for learner, each in zip(self._learners, inputs, strict=True)]

    def finite(self) -> list[bool]:
        """See `Learner`."""
        return [learner.finite()[0] for learner in self._learners]

    def weights(self, seed: int) -> Weights:
        """See `Learner`."""
        return self._learners[seed].weights(0)

    def load_weights(self, weights: Sequence[Mapping[str, Tensor]]) -> None:
        """See `Learner`."""
        for learner, each in zip(self._learners, weights, strict=True):
            learner.load_weights([each])

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        return {"learners": [learner.state() for learner in self._learners], "random": self._random}

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Learner`."""
        self._random = list(state["random"])
        for learner, saved in zip(self._learners, state["learners"], strict=True):
            learner.restore(saved)
