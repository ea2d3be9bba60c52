"""The data sets of a process: what runs share is loaded once, and what a seed decides is its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.sweeps.execution.datasets import DatasetCache, base_key, load_base_of
from setsweep.sweeps.execution.executor import Job

MakeJob = Callable[..., Job]

CIRCLE: dict[str, Any] = {"data": {"name": "circle"}, "model": {"name": "linear"}}


class Counted:
    """Loads what jobs share, and counts how often."""

    def __init__(self) -> None:
        self.loads = 0

    def __call__(self, job: Job) -> Dataset:
        self.loads += 1
        return load_base_of(job)


def test_label_noise_does_not_name_what_is_shared_and_the_split_does() -> None:
    key = base_key({"name": "digits", "label_noise": 0.0, "split_seed": 0})
    assert base_key({"name": "digits", "label_noise": 0.3, "split_seed": 0}) == key
    assert base_key({"split_seed": 0, "name": "digits"}) == key
    assert base_key({"name": "digits", "split_seed": 1}) != key


def test_data_that_every_seed_draws_have_nothing_to_share() -> None:
    assert base_key({"name": "circle"}) is None


def test_the_shared_part_is_loaded_once_and_labels_are_those_of_each_run(make_job: MakeJob) -> None:
    load = Counted()
    cache = DatasetCache(load)
    first, second = (cache.dataset(job, job.configs[0]) for job in (make_job(0), make_job(1)))
    assert load.loads == 1
    assert isinstance(first.train.inputs, torch.Tensor)
    assert isinstance(second.train.inputs, torch.Tensor)
    assert first.train.inputs.data_ptr() == second.train.inputs.data_ptr()
    assert not torch.equal(first.train.labels, second.train.labels), "a tenth of the labels is noise of the seed"
    alone = load_dataset(make_job(1).configs[0].data, seed=1)
    assert torch.equal(second.train.labels, alone.train.labels)


def test_another_split_is_loaded_by_itself(make_job: MakeJob) -> None:
    load = Counted()
    cache = DatasetCache(load)
    for split_seed in (0, 1, 0):
        job = make_job(0, data={"name": "digits", "split_seed": split_seed})
        cache.dataset(job, job.configs[0])
    assert load.loads == 2


def test_data_drawn_from_the_seed_are_drawn_for_each_run(make_job: MakeJob) -> None:
    load = Counted()
    cache = DatasetCache(load)
    first, second = (cache.dataset(job, job.configs[0]) for job in (make_job(0, **CIRCLE), make_job(1, **CIRCLE)))
    assert load.loads == 0
    assert isinstance(first.train.inputs, torch.Tensor)
    assert isinstance(second.train.inputs, torch.Tensor)
    assert not torch.equal(first.train.inputs, second.train.inputs)


def test_a_shared_part_that_was_given_away_is_loaded_again(make_job: MakeJob) -> None:
    load = Counted()
    cache, job = DatasetCache(load), make_job(0)
    cache.dataset(job, job.configs[0])
    given = cache.take_base(job)
    assert load.loads == 1
    assert cache.take_base(job) is not given
    assert load.loads == 2


def test_files_are_looked_for_where_the_job_says(make_job: MakeJob, tmp_path: Path) -> None:
    config = make_job(0, data={"name": "cifar100"}, model={"name": "small_cnn"}).configs[0]
    job = Job(configs=(config,), root=str(tmp_path))
    with pytest.raises(DataError, match=str(tmp_path)):
        DatasetCache().dataset(job, config)
