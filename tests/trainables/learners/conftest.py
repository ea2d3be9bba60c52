"""Learners in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.initial import training_feed
from setsweep.trainables.learners.learner import Learner

Train = Callable[[Learner, Sequence[RunConfig], Sequence[Dataset], int], Tensor]


@pytest.fixture(scope="session")
def trained() -> Train:
    """``trained(learner, configs, datasets, steps)``: (steps, seeds) the losses of the first steps, at one rate."""

    def train(learner: Learner, configs: Sequence[RunConfig], datasets: Sequence[Dataset], steps: int) -> Tensor:
        device = torch.device("cpu")
        feeds = [training_feed(config, dataset, device) for config, dataset in zip(configs, datasets, strict=True)]
        lr, losses = configs[0].training.optimizer.lr, list[Tensor]()
        while True:
            for batches in zip(*(feed.epoch() for feed in feeds), strict=True):
                losses.append(learner.step(batches, lr))
                if len(losses) == steps:
                    return torch.stack(losses)

    return train
