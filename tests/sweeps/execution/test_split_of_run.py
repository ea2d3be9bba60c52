"""Splits that are drawn from each run's seed: paired over arms, and loaded once a seed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from setsweep.data import load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.sweeps.execution.datasets import DatasetCache, base_jobs, load_base_of
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult


def _config(seed: int, *, split: int | str = "run", loss: str = "cross_entropy") -> RunConfig:
    plain = {
        "data": {"name": "digits", "split_seed": split},
        "model": {"name": "linear"},
        "loss": {"name": loss},
        "training": {"epochs": 1, "batch_size": 512},
        "k": [2],
        "seed": seed,
    }
    return complete_config(plain)


def test_the_split_is_that_of_the_seed_for_every_arm() -> None:
    own, other = (load_dataset({"name": "digits", "split_seed": "run"}, seed=seed) for seed in (3, 4))
    assert torch.equal(own.val.labels, load_base({"name": "digits", "split_seed": 3}).val.labels)
    assert not torch.equal(own.val.labels, other.val.labels)


def test_a_run_with_a_split_of_its_own_has_the_results_and_not_the_key_of_one_that_names_it() -> None:
    executor = LocalExecutor()
    results: list[RunResult] = []
    for config in (_config(3), _config(3, split=3)):
        executor.submit(Job(configs=(config,)))
        results += executor.wait(0)  # type: ignore[arg-type]
    executor.close()
    assert results[0].metrics == results[1].metrics
    assert results[0].key != results[1].key


def test_each_seed_of_a_group_has_its_own_and_a_split_is_loaded_once_a_job() -> None:
    loaded: list[int] = []

    def load(job: Job) -> Dataset:
        loaded.append(job.configs[0].seed)
        return load_base_of(job)

    cache = DatasetCache(load)
    job = Job(configs=(_config(3), _config(4)))
    for config in (*job.configs, *(replace(each, loss={"name": "focal"}) for each in job.configs)):
        split = load_base({"name": "digits", "split_seed": config.seed}).val.labels
        assert torch.equal(cache.dataset(job, config).val.labels, split)
    assert loaded == [3, 4]
    assert len(base_jobs(job)) == 2
    assert len(base_jobs(Job(configs=(_config(3, split=0), _config(4, split=0))))) == 1


def test_what_a_split_seed_must_be_is_said() -> None:
    with pytest.raises(ValueError, match=r"data.split_seed must be a whole number >= 0 or run, got 'seed'\."):
        _config(0, split="seed")
