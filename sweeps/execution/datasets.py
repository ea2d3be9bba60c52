"""The data sets of a process, each loaded once however many runs use it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from setsweep.data import base_settings, data_of_run, load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.sweeps.execution.executor import Job
from setsweep.trainables.config.run_config import RunConfig

BaseLoader = Callable[[Job], Dataset]


def base_key(settings: Mapping[str, Any]) -> str | None:
    """What names the part of a data set that runs share; None where every seed draws its own."""
    base = base_settings(settings)
    return None if base is None else json.dumps(base, sort_keys=True)


def base_jobs(job: Job) -> dict[str, Job]:
    """What names each shared part of a job's data, with the run of the job whose it is: one part for all of them, but
    where every seed has a split of its own; none where every seed draws its own data.
    """
    keys = (
        (base_key(data_of(config)), replace(job, configs=(config,), keep_models=(), keep_scores=()))
        for config in job.configs
    )
    return {key: own for key, own in reversed(list(keys)) if key is not None}


def data_of(config: RunConfig) -> Mapping[str, Any]:
    """The settings of a run's data, those of its split included."""
    return data_of_run(config.data, seed=config.seed)


def load_base_of(job: Job) -> Dataset:
    """The shared part of the data of a job's first run, from its files."""
    return load_base(data_of(job.configs[0]), root=job.root, download=job.download)


class DatasetCache:
    """Shared parts of data sets, loaded when the first run asks for them.

    Of splits that are the seeds' own those of one job are kept: each is a copy of the data.
    """

    def __init__(self, load: BaseLoader = load_base_of) -> None:
        self._load = load
        self._bases: dict[str, Dataset] = {}

    def dataset(self, job: Job, config: RunConfig) -> Dataset:
        """The data set of a run of a job: the shared part from the cache, the rest from the run's seed."""
        key = base_key(data_of(config))
        if key is None:
            return load_dataset(config.data, seed=config.seed)
        if key not in self._bases:
            if data_of(config) is not config.data:
                self._bases = {kept: base for kept, base in self._bases.items() if kept in base_jobs(job)}
            self._bases[key] = self._load(replace(job, configs=(config,), keep_models=(), keep_scores=()))
        return load_dataset(config.data, seed=config.seed, base=self._bases[key])

    def take_base(self, job: Job) -> Dataset:
        """The shared part of the data of a job's first run, which the cache gives away."""
        return self._bases.pop(str(base_key(data_of(job.configs[0]))), None) or self._load(job)
