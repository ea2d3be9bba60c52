"""Small runs on small data, and when two results are the same."""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset, Split
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

MakeConfig = Callable[..., RunConfig]
SeedGroup = tuple[list[RunConfig], list[Dataset]]

SEEDS = (3, 5, 8, *range(10, 20))
OWN_MODELS = """
from math import prod
import torch
from torch import nn

def normed(input_shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 5), nn.BatchNorm1d(5), nn.Tanh()), 5

def repeated(input_shape):
    layer = nn.Linear(4, 4)
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 4), layer, nn.Tanh(), layer), 4

def tied(input_shape):
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 4), first, nn.Tanh(), second), 4

def with_dropout(input_shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 8), nn.Dropout(0.5)), 8

def branching(input_shape):
    class Branching(nn.Linear):
        def forward(self, inputs):
            outputs = super().forward(inputs.flatten(1))
            return outputs if outputs.sum() > 0 else -outputs
    return Branching(prod(input_shape), 4), 4

def shifted(input_shape):
    class Shifted(nn.Linear):
        shift = torch.randn(4)
        def forward(self, inputs):
            return super().forward(inputs.flatten(1)) + self.shift
    return Shifted(prod(input_shape), 4), 4
"""

_PLAIN: dict[str, Any] = {
    "data": {"name": "circle", "shift": 60.0, "per_class": 16},  # 96 training examples of 6 classes
    "model": {"name": "linear"},
    "loss": {"name": "cross_entropy"},
    "training": {"epochs": 4, "batch_size": 40, "optimizer": {"lr": 0.5}},  # 3 steps an epoch
    "k": [1, 2],
    "seed": 3,
}


@pytest.fixture
def make_config() -> MakeConfig:
    """A complete configuration of a run of milliseconds; sections given replace its own, `training` is merged."""

    def make(**changes: Any) -> RunConfig:
        plain = copy.deepcopy(_PLAIN)
        plain["training"] |= changes.pop("training", {})
        return complete_config(plain | changes)

    return make


@pytest.fixture(scope="session")
def digits() -> Dataset:
    """A part of the digits: images, 90 / 60 / 60."""
    whole = load_dataset({"name": "digits"}, seed=0)
    parts = [
        Split(split.inputs[:size].clone(), split.labels[:size].clone())
        for split, size in ((whole.train, 90), (whole.val, 60), (whole.test, 60))
    ]
    return Dataset(*parts, num_classes=10, mean=whole.mean, std=whole.std)


@pytest.fixture
def seed_group(make_config: MakeConfig, digits: Dataset) -> Callable[..., SeedGroup]:
    """``seed_group(3, **changes)``: the configurations and data sets of so many seeds."""

    def make(seeds: int = 3, **changes: Any) -> SeedGroup:
        configs = [make_config(seed=seed, **changes) for seed in itertools.islice(SEEDS, seeds)]
        drawn = configs[0].data["name"] != "digits"
        return configs, [load_dataset(each.data, seed=each.seed) if drawn else digits for each in configs]

    return make


@pytest.fixture
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the module `own_models` importable: models of a user's, `shifted` with a number that is no weight."""
    (tmp_path / "own_models.py").write_text(OWN_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_models", raising=False)


@pytest.fixture(scope="session")
def outcome() -> Callable[[RunResult], dict[str, Any]]:
    """What of a result must be the same to the last bit in a second run: all but its times and its host."""

    def of(result: RunResult) -> dict[str, Any]:
        told_apart = ("seconds", "started", "finished", "host", "runtime")
        return {name: value for name, value in result.to_dict().items() if name not in told_apart}

    return of


@pytest.fixture(scope="session")
def same_weights() -> Callable[[Path, Path], bool]:
    """Whether two folders hold the same ``model.pt``."""

    def same(one: Path, other: Path) -> bool:
        weights, others = (torch.load(folder / "model.pt", weights_only=True)["state"] for folder in (one, other))
        assert weights.keys() == others.keys()
        return all(torch.equal(weights[name], others[name]) for name in weights)

    return same
