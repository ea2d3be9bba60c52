"""How many seeds train side by side."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import pytest
import torch

import setsweep.trainables.probes.seeds_at_once
from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.probes.seeds_at_once import _Steps, seeds_at_once


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows what another has measured."""
    monkeypatch.setattr(setsweep.trainables.probes.seeds_at_once, "_measured", {})


@pytest.fixture
def team(make_config: Any) -> Any:
    """``team(seeds, **changes)``: configurations and data sets."""

    def make(seeds: int, **changes: Any) -> tuple[list[RunConfig], list[Dataset]]:
        configs = [make_config(seed=seed, **changes) for seed in range(seeds)]
        return configs, [load_dataset(config.data, seed=config.seed) for config in configs]

    return make


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``costs({2: 1.5})``: a step of 2 seeds takes 1.5 times that of one; None: memory runs out. Lists the asked."""
    asked: list[int] = []

    def say(table: Mapping[int, float | None]) -> list[int]:
        def share(alone: Any, together: Any) -> float:
            seeds = len(together._configs)
            asked.append(seeds)
            cost = table[seeds]
            if cost is None:
                raise torch.OutOfMemoryError
            return cost

        monkeypatch.setattr(setsweep.trainables.probes.seeds_at_once, "_share", share)
        return asked

    return say


def test_a_number_asked_for_is_taken_as_far_as_there_are_seeds(team: Any) -> None:
    assert seeds_at_once(*team(3), 2) == 2
    assert seeds_at_once(*team(3), 8) == 3


def test_small_models_train_together(team: Any) -> None:
    assert seeds_at_once(*team(8, training={"batch_size": "full"})) >= 4


def test_one_seed_is_one(team: Any) -> None:
    assert seeds_at_once(*team(1)) == 1


def test_what_can_not_be_stacked_trains_alone(team: Any) -> None:
    assert seeds_at_once(*team(2, training={"compile": True})) == 1


def test_probing_leaves_the_global_generator_alone(team: Any) -> None:
    before = torch.get_rng_state()
    seeds_at_once(*team(2))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("table", "chosen"),
    [
        ({2: 1.5, 3: 2.0, 5: 2.5, 10: 4.0}, 10),
        ({2: 1.5, 3: 2.0, 5: 2.5, 10: 6.0}, 5),
        ({2: 1.9, 3: 2.8, 5: 4.0, 10: None}, 5),
        ({2: 1.95, 3: 2.85, 5: 4.6, 10: 9.1}, 1),
        ({2: 2.1}, 1),
        ({2: None}, 1),
    ],
)
def test_the_cheapest_number_is_taken_if_it_is_clearly_cheaper(
    table: Mapping[int, float | None], chosen: int, team: Any, costs: Any
) -> None:
    asked = costs(table)
    assert seeds_at_once(*team(10)) == chosen
    assert asked == list(table)


def test_what_was_measured_holds_for_other_seeds_of_the_configuration(team: Any, costs: Any) -> None:
    asked = costs({2: 1.5, 3: 2.0})
    configs, datasets = team(6)
    assert seeds_at_once(configs[:3], datasets[:3]) == 3
    assert seeds_at_once(configs[3:], datasets[3:]) == 3
    assert asked == [2, 3]
    seeds_at_once(*team(3, training={"batch_size": 20}))
    assert asked == [2, 3, 2, 3]


def test_probing_keeps_no_learner(team: Any) -> None:
    steps = _Steps(*team(2), torch.device("cpu"))
    steps.seconds(1)
    learner = weakref.ref(steps._learner)
    gc.disable()
    try:
        del steps
        assert learner() is None
    finally:
        gc.enable()
