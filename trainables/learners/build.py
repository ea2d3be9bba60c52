"""Which learner a run gets: one seed its own, a seed group a stacked model where that can be, else turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.learner import Learner
from setsweep.trainables.learners.round_robin import RoundRobinLearner
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.learners.stackable import why_not_stackable
from setsweep.trainables.learners.stacked import StackedLearner


def build_learner(configs: Sequence[RunConfig], datasets: Sequence[Dataset], device: torch.device) -> Learner:
    """The learner of one seed, or of a seed group.

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
        raise ValueError("configurations of a seed group must be equal but for the seed, got others.")
    sizes = {tuple(len(split) for split in (each.train, each.val, each.test)) for each in datasets}
    if len(sizes) > 1:
        raise ValueError(f"data sets of a seed group must be of one size, got (train, val, test) of {sorted(sizes)}.")
    stackable = why_not_stackable(configs[0], datasets[0], device) is None
    return (StackedLearner if stackable else RoundRobinLearner)(configs, datasets, device)
