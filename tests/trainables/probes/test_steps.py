"""Steps taken for their time."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.trainables.learners.round_robin import RoundRobinLearner
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.learners.stacked import StackedLearner
from setsweep.trainables.loop import train_seeds
from setsweep.trainables.probes.steps import StepTimer, run_seconds

PASS = 0.05  # seconds
SLOW = f"""
import time
from torch import nn

class Slow(nn.Flatten):
    def forward(self, inputs):
        time.sleep({PASS})
        return super().forward(inputs)

def model(input_shape):
    return Slow(), 2
"""


@pytest.fixture
def slow(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A model whose every pass sleeps for `PASS`."""
    (tmp_path / "slow_model.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    return {"model": {"name": "slow_model:model"}, "training": {"device": "cpu"}}


@pytest.mark.parametrize(
    ("seeds", "changes", "kind"),
    [
        (1, {}, SoloLearner),
        (3, {}, StackedLearner),
        (3, {"model": {"name": "own_models:with_dropout"}}, RoundRobinLearner),
    ],
)
@pytest.mark.usefixtures("own_models")
def test_steps_are_those_of_the_learner_that_would_train_and_change_no_weight(
    seeds: int, changes: dict[str, Any], kind: type, seed_group: Any
) -> None:
    diverging = {"optimizer": {"lr": 1e30, "momentum": 0.9, "weight_decay": 10}, "device": "cpu"}
    timer = StepTimer(*seed_group(seeds, training=diverging, **changes))
    learner = timer._learner
    assert type(learner) is kind
    before = [learner.weights(seed) for seed in range(seeds)]
    assert timer.seconds(20) > 0
    assert timer.steps(until=time.time() + 0.05) > 0
    for seed, weights in enumerate(before):
        assert all(torch.equal(value, learner.weights(seed)[name]) for name, value in weights.items())


def test_as_many_steps_are_taken_as_the_time_allows_and_one_at_least(slow: Any, seed_group: Any) -> None:
    timer = StepTimer(*seed_group(1, **slow))
    assert timer.steps(until=0.0) == 1
    start = time.time()
    steps = timer.steps(until=start + 4 * PASS)
    assert 1 <= steps <= 4
    assert time.time() - start >= 4 * PASS


def test_on_a_cpu_the_cost_of_steps_is_their_cpu_time(slow: Any, seed_group: Any) -> None:
    timer = StepTimer(*seed_group(1, **slow))
    start = time.perf_counter()
    cost = timer.seconds(10)
    assert time.perf_counter() - start >= 10 * PASS  # asleep for most of it
    assert 0 < cost < 5 * PASS


def test_steps_go_on_from_epoch_to_epoch(seed_group: Any) -> None:
    timer = StepTimer(*seed_group(2))
    assert timer.steps_per_epoch == 3  # 96 examples in batches of 40
    timer.seconds(2)
    assert [len(batch.labels) for batch in next(timer._batches)] == [16, 16]
    assert [len(batch.labels) for batch in next(timer._batches)] == [40, 40]


def test_scoring_takes_its_time_for_each_example_of_one_piece_or_more(slow: Any, seed_group: Any) -> None:
    configs, _ = seed_group(1, **slow)
    dataset = load_dataset({"name": "circle", "per_class": 5000}, seed=0)
    pieces = -(-len(dataset.val) // 1024)
    assert pieces >= 20
    timer = StepTimer(configs, [dataset])
    for until, examples, passes in ((0.0, 1024, 1), (time.time() + 60, len(dataset.val) / pieces, pieces)):
        start = time.time()
        example = timer.evaluation_seconds(until=until)
        assert PASS / examples <= example < 4 * PASS / examples  # a pass a piece, and a little
        assert passes * PASS <= time.time() - start < (passes + 10) * 2 * PASS


def test_a_timer_dropped_takes_its_learner_along(seed_group: Any) -> None:
    timer = StepTimer(*seed_group(2))
    timer.seconds(1)
    learner = weakref.ref(timer._learner)
    gc.disable()
    try:
        del timer
        assert learner() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_forecast_of_a_run_is_about_what_it_takes(seeds: int, slow: Any, seed_group: Any) -> None:
    # 12 steps, 4 validations and a test of a piece each: 17 passes, which all seeds share, and a little more; a run may
    # test the models of several epochs
    slow["training"] |= {"epochs": 4}
    configs, datasets = seed_group(seeds, **slow)
    # Other work on the machine only lengthens what is measured: the shortest of a few is about the passes alone.
    forecasts = [seeds * run_seconds(configs, datasets, seconds=1.0) for _ in range(3)]
    wholes = [sum(result.seconds for result in train_seeds(configs, datasets=datasets)) for _ in range(2)]
    assert 17 * PASS <= min(forecasts) < 2 * 17 * PASS
    assert min(wholes) / 2 < min(forecasts) < 2 * min(wholes)
