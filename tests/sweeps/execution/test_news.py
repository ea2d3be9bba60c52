"""What running runs have come to is told now and then, and costs nothing that anybody would notice."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from setsweep.sweeps.execution import news as module
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.execution.news import Moment, News
from setsweep.sweeps.execution.slots.mailbox import Mailbox
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig

METRICS = {"train/loss": 1.5, "val/avg2_accuracy": 0.5, "val/macro_avg2_accuracy": 0.4, "val/avg2_set_size": 2.0}


def _config(seed: int = 0, epochs: int = 3) -> RunConfig:
    training = {"epochs": epochs, "batch_size": 256, "device": "cpu"}
    plain = {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "cross_entropy"}, "k": [2]}
    return complete_config({**plain, "training": training, "seed": seed})


def test_of_each_run_the_newest_is_told_at_most_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    told: list[Sequence[Moment]] = []
    configs = (_config(0), _config(1))
    news = News(Job(configs=configs), told.append)
    for epoch in (1, 2, 3):
        now += 0.6
        for seed in (0, 1):
            news(seed, epoch, {**METRICS, "train/loss": epoch})
    assert [[(each.key, each.epoch) for each in moments] for moments in told] == [
        [(configs[0].key, 1), (configs[1].key, 1)],
        [(configs[0].key, 3), (configs[1].key, 2)],
    ]
    assert told[0][0].metrics == {"train/loss": 1, "val/avg2_accuracy": 0.5}
    assert told[0][0].epochs == 3


def test_a_run_in_this_process_tells_while_it_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TELL_SECONDS", 0.0)
    executor, told = LocalExecutor(), list[Moment]()
    executor.listen(told.extend)
    executor.submit(Job(configs=(_config(),)))
    (result,) = executor.wait(0)
    assert [each.epoch for each in told] == [1, 2, 3]
    assert [each.metrics["val/avg2_accuracy"] for each in told] == list(result.curves["val/avg2_accuracy"])  # type: ignore[union-attr]


def test_the_mailbox_keeps_the_newest_of_each_run() -> None:
    mailbox = Mailbox()
    first, second, other = (
        Moment(key=key, epoch=epoch, epochs=9, metrics={}) for key, epoch in (("a", 1), ("a", 2), ("b", 1))
    )
    mailbox.tell([first, other])
    mailbox.tell([second])
    assert mailbox.news() == [second, other]
    assert mailbox.news() == []


def test_an_epoch_that_nothing_is_told_of_costs_microseconds() -> None:
    news = News(Job(configs=(_config(),)), lambda moments: None)
    news(0, 1, METRICS)
    began = time.perf_counter()
    for epoch in range(2, 1002):
        news(0, epoch, METRICS)
    assert (time.perf_counter() - began) / 1000 < 1e-4
