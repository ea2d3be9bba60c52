"""The executor in this process."""

from __future__ import annotations

from collections.abc import Callable

import torch

from setsweep.data.dataset import Dataset
from setsweep.sweeps.execution.datasets import DatasetCache, load_base_of
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.local_executor import LocalExecutor


def test_data_that_are_loaded_already_are_used(make_job: Callable[..., Job]) -> None:
    job = make_job(0)
    loaded: list[Job] = []

    def load(job: Job) -> Dataset:
        loaded.append(job)
        return load_base_of(job)

    datasets = DatasetCache(load)
    datasets.dataset(job, job.configs[0])
    executor = LocalExecutor(datasets=datasets)
    for seed in range(2):
        executor.submit(make_job(seed))
        executor.wait(0)
    assert [each.configs for each in loaded] == [job.configs]


def test_a_run_has_as_many_threads_as_cpus() -> None:
    before = torch.get_num_threads()
    try:
        LocalExecutor(cpus=2)
        assert torch.get_num_threads() == 2
        LocalExecutor(cpus=0.5)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
