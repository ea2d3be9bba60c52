"""Attempts: nothing that a run raises gets out of them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from data import load_dataset
from data.dataset import DataError, Dataset
from trainables.attempt import attempt
from trainables.loop import train


def test_an_attempt_that_works_gives_what_training_gives(make_config: Any, outcome: Any) -> None:
    config = make_config()
    result = attempt(config, lambda: load_dataset(config.data, seed=config.seed), attempts=3)
    assert result.attempts == 3
    assert outcome(result) == outcome(train(config)) | {"attempts": 3}


def test_an_error_of_the_data_becomes_a_failed_result(make_config: Any) -> None:
    def missing() -> Dataset:
        raise DataError("somewhere/train must be there, got no such file.")

    config, started = make_config(), time.time()
    result = attempt(config, missing, attempts=2)
    assert (result.key, result.status, result.attempts) == (config.key, "failed", 2)
    assert result.reason == "DataError: somewhere/train must be there, got no such file."
    assert result.metrics == {}
    assert started <= result.started <= result.finished <= time.time()
    assert result.host


def test_an_error_of_the_training_becomes_a_failed_result(make_config: Any) -> None:
    config = make_config(model={"name": "small_cnn"})
    result = attempt(config, lambda: load_dataset(config.data, seed=config.seed))
    assert result.status == "failed"
    assert result.reason == "ValueError: model small_cnn must get images (channels, height, width), got (2,)."


def test_an_error_of_a_report_becomes_a_failed_result(make_config: Any) -> None:
    def report(epoch: int, metrics: object) -> None:
        raise ConnectionError(f"no one listens to epoch {epoch}")

    config = make_config()
    result = attempt(config, lambda: load_dataset(config.data, seed=config.seed), on_epoch=report)
    assert (result.status, result.reason) == ("failed", "ConnectionError: no one listens to epoch 1")


def test_a_divergence_is_no_failure(make_config: Any) -> None:
    config = make_config(training={"epochs": 20, "optimizer": {"lr": 1e4, "weight_decay": 1}})
    assert attempt(config, lambda: load_dataset(config.data, seed=config.seed)).status == "diverged"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_not_held_up(stop: type[BaseException], make_config: Any) -> None:
    def stopped() -> Dataset:
        raise stop

    with pytest.raises(stop):
        attempt(make_config(), stopped)
