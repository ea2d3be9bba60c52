"""How many runs share a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setsweep.trainables.probes.runs_per_gpu import Shared, most_useful, runs_per_gpu

ONLY_ONCE = """
from pathlib import Path
from torch import nn

def model(input_shape, *, mark):
    Path(mark).touch(exist_ok=False)
    return nn.Identity(), 2
"""

HUNGRY = """
import torch
from torch import nn

class Hungry(nn.Flatten):
    left = None
    def forward(self, inputs):
        if self.training and self.left == 0:
            raise torch.OutOfMemoryError("no room")
        self.left -= self.training
        return super().forward(inputs)

def model(input_shape, *, steps):
    network = Hungry()
    network.left = steps
    return network, 2
"""


def _choice(throughputs: dict[int, float], memory: dict[int, float] | None = None) -> tuple[int, list[int]]:
    asked: list[int] = []

    def measure(runs: int) -> Shared:
        asked.append(runs)
        return Shared(throughputs[runs], (memory or {}).get(runs, 0.0))

    return most_useful(measure), asked


def test_runs_are_added_as_long_as_they_give_more_steps_together() -> None:
    assert _choice({1: 100, 2: 190, 4: 300, 8: 310}) == (4, [1, 2, 4, 8])
    assert _choice({1: 100, 2: 200, 4: 400, 8: 800}) == (8, [1, 2, 4, 8])


def test_a_busy_device_is_left_to_one_run_and_more_are_not_tried() -> None:
    assert _choice({1: 100, 2: 104}) == (1, [1, 2])
    assert _choice({1: 100, 2: 60}) == (1, [1, 2])


def test_no_more_runs_than_the_memory_holds() -> None:
    assert _choice({1: 100, 2: 200, 4: 400, 8: 800}, {1: 0.2, 2: 0.4, 4: 0.8}) == (4, [1, 2, 4])
    assert _choice({1: 100, 2: 200}, {1: 0.4, 2: 0.95}) == (1, [1, 2])


def test_running_out_of_memory_is_a_measurement_too() -> None:
    assert _choice({1: 100, 2: 0}) == (1, [1, 2])
    assert _choice({1: 0}) == (1, [1])  # what one can't do, more can't do either


def test_copies_of_a_real_run_are_trained_at_once(make_config: Any) -> None:
    config = make_config(training={"device": "cpu"})
    assert runs_per_gpu([config], seconds=0.1, candidates=(1,)) == 1


def test_copies_of_a_seed_group_are_trained_at_once(make_config: Any) -> None:
    configs = [make_config(training={"device": "cpu"}, seed=seed) for seed in range(3)]
    assert runs_per_gpu(configs, seeds="auto", seconds=0.3, candidates=(1, 2)) in (1, 2)


def test_what_a_run_cannot_do_is_told(make_config: Any) -> None:
    config = make_config(data={"name": "circle", "per_class": 16}, training={"batch_size": 97})
    with pytest.raises(RuntimeError, match=r"ValueError: training.batch_size must be <= .* = 96, got 97"):
        runs_per_gpu([config], seconds=0.1, candidates=(1,))


@pytest.mark.parametrize("steps", [0, 3])
def test_a_copy_that_runs_out_of_memory_stays_alone(
    steps: int, make_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hungry.py").write_text(HUNGRY)
    monkeypatch.syspath_prepend(tmp_path)
    config = make_config(model={"name": "hungry:model", "steps": steps}, training={"device": "cpu"})
    assert runs_per_gpu([config], seconds=0.1, candidates=(1, 2)) == 1


def test_copies_that_can_not_be_started_are_too_many(
    make_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_once.py").write_text(ONLY_ONCE)
    monkeypatch.syspath_prepend(tmp_path)  # processes that are spawned look there as well
    config = make_config(model={"name": "only_once:model", "mark": str(tmp_path / "mark")}, training={"device": "cpu"})
    assert runs_per_gpu([config], seconds=0.1, candidates=(1, 2, 4)) == 1
