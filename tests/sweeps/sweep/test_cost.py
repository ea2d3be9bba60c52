"""What runs take, written on one machine and read on another; and whether it can be measured here at all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Arm, Study
from setsweep.sweeps.sweep.cost import Cost, can_be_measured, read_rates, save_rates
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig


def _study(**changes: Any) -> Study:
    arms = {name: Arm(name=name, loss="cross_entropy") for name in ("plain", "other")}
    settings: dict[str, Any] = {"data": {"name": "digits"}, "model": {"name": "linear"}, "training": {}, "k": (2,)}
    return Study(**{"name": "costs", "arms": arms, **settings, **changes})


def _configs(epochs: int) -> dict[str, RunConfig]:
    plain = {
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "loss": {"name": "cross_entropy"},
        "training": {"epochs": epochs},
        "k": [2],
        "seed": 0,
    }
    return dict.fromkeys(("plain", "other"), complete_config(plain))


def test_rates_are_by_epoch_so_that_a_longer_study_takes_longer(tmp_path: Path) -> None:
    """10 s over 5 epochs are 2 s each, and so 60 s over 30; memory is as it was."""
    costs = {"plain": Cost(10.0, 512.0), "other": Cost(20.0, 600.0)}
    save_rates(tmp_path / "rates.yaml", _study(), costs, _configs(epochs=5))
    found = read_rates(tmp_path / "rates.yaml", _study(), _configs(epochs=30))
    assert found == {"plain": Cost(60.0, 512.0), "other": Cost(120.0, 600.0)}


def test_memory_that_was_not_measured_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "rates.yaml").write_text("seconds_per_epoch: {plain: 1, other: 2.5}\n")
    found = read_rates(tmp_path / "rates.yaml", _study(), _configs(epochs=2))
    assert found["other"].seconds == 5.0
    assert math.isnan(found["other"].mebibytes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "must be a file that 'plan --save-rate' has written"),
        ("[1, 2]", "must be a file that 'plan --save-rate' has written"),
        ("seconds_per_epoch: 3", "must be a file that 'plan --save-rate' has written"),
        ("seconds_per_epoch: [", "must be a file that 'plan --save-rate' has written"),
        ("seconds_per_epoch: {plain: 1}", "must have seconds_per_epoch of every arm, got none of other"),
        ("seconds_per_epoch: {plain: 0, other: 1}", "plain of .* must be"),
        ("seconds_per_epoch: {plain: fast, other: 1}", "plain of .* must be"),
    ],
)
def test_what_is_no_file_of_rates_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "rates.yaml").write_text(text)
    with pytest.raises(ValueError, match=rf"^--rate:? .*{said}"):
        read_rates(tmp_path / "rates.yaml", _study(), _configs(epochs=2))


def test_a_file_that_cannot_be_written_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^--save-rate must be a file that can be written, got .*: No such file"):
        save_rates(tmp_path / "missing" / "rates.yaml", _study(), {}, {})


@pytest.mark.parametrize(
    ("changes", "needs_gpu"),
    [
        ({}, False),
        ({"resources": Resources(gpus=0)}, False),
        ({"resources": Resources(gpus="auto")}, False),
        ({"resources": Resources(gpus=1)}, True),
        ({"training": {"device": "cuda"}}, True),
    ],
)
def test_runs_that_are_to_have_a_gpu_are_measured_where_there_is_one(changes: dict[str, Any], needs_gpu: bool) -> None:
    assert can_be_measured(_study(**changes)) is (not needs_gpu or torch.cuda.is_available())
