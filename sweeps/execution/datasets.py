"""The data sets of a process, each loaded once however many runs use it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from setsweep.data import base_settings, load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.sweeps.execution.executor import Job
from setsweep.trainables.config.run_config import RunConfig

BaseLoader = Callable[[Job], Dataset]


def base_key(settings: Mapping[str, Any]) -> str | None:
    """What names the part of a data set that runs share; None where every seed draws its own."""
    base = base_settings(settings)
    return None if base is None else json.dumps(base, sort_keys=True)


def load_base_of(job: Job) -> Dataset:
    """The shared part of a job's data, from its files."""
    return load_base(job.configs[0].data, root=job.root, download=job.download)


class DatasetCache:
    """Shared parts of data sets, loaded when the first run asks for them."""

    def __init__(self, load: BaseLoader = load_base_of) -> None:
        self._load = load
        self._bases: dict[str, Dataset] = {}

    def dataset(self, job: Job, config: RunConfig) -> Dataset:
        """The data set of a run of a job: the shared part from the cache, the rest from the run's seed."""
        key = base_key(config.data)
        if key is None:
            return load_dataset(config.data, seed=config.seed)
        if key not in self._bases:
            self._bases[key] = self._load(job)
        return load_dataset(config.data, seed=config.seed, base=self._bases[key])

    def take_base(self, job: Job) -> Dataset:
        """The shared part of a job's data, which the cache gives away."""
        return self._bases.pop(str(base_key(job.configs[0].data)), None) or self._load(job)
