"""How many seeds train together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch

import setsweep.trainables.probes.seed_group_size
from setsweep.trainables.probes.seed_group_size import _share, seed_group_size
from setsweep.trainables.probes.steps import StepTimer


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows what another has measured."""
    monkeypatch.setattr(setsweep.trainables.probes.seed_group_size, "_measured", {})


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``costs({2: 1.5})``: a step of 2 seeds takes 1.5 times that of one; None: memory runs out. Lists the asked."""
    asked: list[int] = []

    def say(table: Mapping[int, float | None]) -> list[int]:
        def share(alone: Any, together: Any) -> float:
            seeds = len(together._datasets)
            asked.append(seeds)
            cost = table[seeds]
            if cost is None:
                raise torch.OutOfMemoryError
            return cost

        monkeypatch.setattr(setsweep.trainables.probes.seed_group_size, "_share", share)
        return asked

    return say


def test_a_number_asked_for_is_taken_as_far_as_there_are_seeds(seed_group: Any) -> None:
    assert seed_group_size(*seed_group(3), 2) == 2
    assert seed_group_size(*seed_group(3), 8) == 3


def test_small_models_train_together(seed_group: Any) -> None:
    # on a machine with three times the work that it has cores for, one measurement in five was spoilt at most: all of
    # five once in 3000 times
    group = seed_group(8, training={"batch_size": "full"})
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # of several, the CPU time counts the waiting for each other
    try:
        assert any(_measured_anew(group) >= 4 for _ in range(5))
    finally:
        torch.set_num_threads(threads)


def _measured_anew(group: Any) -> int:
    setsweep.trainables.probes.seed_group_size._measured.clear()
    return seed_group_size(*group)


def test_one_seed_is_one(seed_group: Any) -> None:
    assert seed_group_size(*seed_group(1)) == 1


def test_what_can_not_be_stacked_trains_alone_and_is_not_measured(seed_group: Any, costs: Any) -> None:
    asked = costs({2: 0.1})
    assert seed_group_size(*seed_group(2, training={"compile": True})) == 1
    assert asked == []


def test_a_step_that_takes_long_is_left_to_one_seed(seed_group: Any, costs: Any, monkeypatch: Any) -> None:
    asked = costs({2: 0.1})
    assert seed_group_size(*seed_group(2)) == 2
    monkeypatch.setattr(setsweep.trainables.probes.seed_group_size, "LONG_STEP", 0.0)
    assert seed_group_size(*seed_group(2, training={"batch_size": 20})) == 1
    assert asked == [2]


def test_a_device_that_would_be_almost_full_is_left_to_fewer_seeds(
    seed_group: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = setsweep.trainables.probes.seed_group_size
    group, alone = seed_group(2), seed_group(1)
    assert _share(StepTimer(*alone), StepTimer(*group)) > 0
    monkeypatch.setattr(module, "memory_in_use", lambda device: 0.91)
    with pytest.raises(torch.OutOfMemoryError, match=r"^memory in use must be <= 90%, got 91%\.$"):
        _share(StepTimer(*alone), StepTimer(*group))
    assert seed_group_size(*group) == 1


def test_probing_leaves_the_global_generator_alone(seed_group: Any) -> None:
    before = torch.get_rng_state()
    seed_group_size(*seed_group(2))
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
    table: Mapping[int, float | None], chosen: int, seed_group: Any, costs: Any
) -> None:
    asked = costs(table)
    assert seed_group_size(*seed_group(10)) == chosen
    assert asked == list(table)


def test_what_was_measured_holds_for_other_seeds_of_the_configuration(seed_group: Any, costs: Any) -> None:
    asked = costs({2: 1.5, 3: 2.0})
    configs, datasets = seed_group(6)
    assert seed_group_size(configs[:3], datasets[:3]) == 3
    assert seed_group_size(configs[3:], datasets[3:]) == 3
    assert asked == [2, 3]
    seed_group_size(*seed_group(3, training={"batch_size": 20}))
    assert asked == [2, 3, 2, 3]
