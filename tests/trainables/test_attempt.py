"""Attempts: nothing that a run raises gets out of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.trainables.attempt import attempt
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import train


def _attempt(config: RunConfig, **options: Any) -> RunResult:
    (result,) = attempt([config], lambda each: load_dataset(each.data, seed=each.seed), **options)
    return result


def test_an_attempt_that_works_gives_what_training_gives(make_config: Any, outcome: Any) -> None:
    config = make_config()
    result = _attempt(config, attempts=3)
    assert result.attempts == 3
    assert outcome(result) == outcome(train(config)) | {"attempts": 3}


def test_an_error_of_the_data_becomes_a_failed_result(make_config: Any) -> None:
    def missing(config: RunConfig) -> Dataset:
        raise DataError("somewhere/train must be there, got no such file.")

    config, started = make_config(), time.time()
    (result,) = attempt([config], missing, attempts=2)
    assert (result.key, result.status, result.attempts) == (config.key, "failed", 2)
    assert result.reason == "DataError: somewhere/train must be there, got no such file."
    assert result.metrics == {}
    assert started <= result.started <= result.finished <= time.time()
    assert result.host


def test_an_error_of_the_training_becomes_a_failed_result(make_config: Any) -> None:
    config = make_config(model={"name": "small_cnn"})
    result = _attempt(config)
    assert result.status == "failed"
    assert result.reason == "ValueError: model small_cnn must get images (channels, height, width), got (2,)."


def test_an_error_of_one_seed_leaves_the_others_their_results(make_config: Any, outcome: Any) -> None:
    configs = [make_config(seed=seed) for seed in range(4)]

    def dataset(config: RunConfig) -> Dataset:
        if config.seed == 2:
            raise DataError("the data of seed 2 must be there, got none.")
        return load_dataset(config.data, seed=config.seed)

    results = attempt(configs, dataset)
    assert [result.key for result in results] == [config.key for config in configs]
    assert [result.status for result in results] == ["done", "done", "failed", "done"]
    assert outcome(results[3]) == outcome(train(configs[3]))


def test_halves_resume_from_the_checkpoint_of_the_seeds(make_config: Any, tmp_path: Path) -> None:
    configs, path = [make_config(seed=seed) for seed in range(2)], tmp_path / "checkpoint"

    def dataset(config: RunConfig) -> Dataset:
        asked.append(config.seed)
        if asked == [0, 1]:
            raise DataError("the data must be there for both seeds, got none.")
        return load_dataset(config.data, seed=config.seed)

    def stop(epoch: int, metrics: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(configs[0], checkpoint=path, checkpoint_seconds=0, on_epoch=stop)
    state = torch.load(path, weights_only=True)
    save_checkpoint({**state, "seconds": 1000.0}, path)

    asked: list[int] = []
    first, second = attempt(configs, dataset, checkpoint=path)
    assert (first.status, first.seconds > 1000) == ("done", True)
    assert (second.status, second.seconds < 1000) == ("done", True)
    assert asked == [0, 1, 0, 1]
    assert not path.exists()


def test_running_out_of_memory_is_told_from_other_failures(make_config: Any) -> None:
    def dataset(config: RunConfig) -> Dataset:
        raise torch.OutOfMemoryError("no room") if config.seed else DataError("no data")

    results = [attempt([make_config(seed=seed)], dataset)[0] for seed in (0, 1)]
    assert [result.cause for result in results] == ["error", "memory"]


def test_a_divergence_is_no_failure(make_config: Any) -> None:
    config = make_config(training={"epochs": 20, "optimizer": {"lr": 1e4, "weight_decay": 1}})
    assert _attempt(config).status == "diverged"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_not_held_up(stop: type[BaseException], make_config: Any) -> None:
    def stopped(config: RunConfig) -> Dataset:
        raise stop

    with pytest.raises(stop):
        attempt([make_config()], stopped)
