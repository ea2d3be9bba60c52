"""A model of one's own: a function by its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.sections import check_model
from setsweep.trainables.loop import train
from setsweep.trainables.models.classifier import Classifier, build_model
from setsweep.trainables.settings.problems import ConfigError

MODULE = """
import math
import torch
from torch import nn

number = 3

def two_layers(input_shape, *, width=6, spread=None):
    layer = nn.Linear(math.prod(input_shape), width)
    return nn.Sequential(nn.Flatten(), layer, nn.BatchNorm1d(width), nn.ReLU()), width

def wrong_count(input_shape):
    return two_layers(input_shape)[0], 5

def no_count(input_shape):
    return two_layers(input_shape)[0]

def three_things(input_shape):
    return (*two_layers(input_shape), 0)

def keeps_space(input_shape):
    return nn.Conv2d(input_shape[0], 4, 3), 4

def keeps_its_classifier(input_shape):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.classifier = nn.Linear(math.prod(input_shape), 4), nn.Linear(4, 10)
        def forward(self, inputs):
            return self.body(inputs.flatten(1))
    return Network(), 4

def uses_nothing(input_shape):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(1, 1)
        def forward(self, inputs):
            return inputs.flatten(1)
    return Network(), math.prod(input_shape)

def frozen(input_shape):
    network, features = two_layers(input_shape)
    network[1].weight.requires_grad_(False)
    return network, features

def raw(input_shape):
    return nn.Flatten(), math.prod(input_shape)

def breaks(input_shape):
    raise ArithmeticError("of its own")
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package `ours` with a module `nets` where Python finds it, and a module that can't be imported."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "nets.py").write_text(MODULE)
    (tmp_path / "ours" / "broken.py").write_text("import something_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "ours"]:
        del sys.modules[name]


def _build(name: str, seed: int = 0, **settings: Any) -> Classifier:
    complete = check_model({"name": name, **settings})
    return build_model(complete, head="linear", input_shape=(1, 4, 4), num_classes=7, seed=seed)


def test_it_gets_the_shape_and_the_settings_and_a_head_on_top() -> None:
    model = _build("ours.nets:two_layers", width=9)
    assert [tuple(value.shape) for value in model.parameters()] == [(9, 16), (9,), (9,), (9,), (7, 9), (7,)]
    assert model(torch.randn(3, 1, 4, 4)).shape == (3, 7)


def test_a_model_without_weights_of_its_own_is_a_head() -> None:
    assert _build("ours.nets:raw")(torch.randn(3, 1, 4, 4)).shape == (3, 7)


def test_the_seed_alone_decides_its_first_weights() -> None:
    before = torch.get_rng_state()
    one, same, other = (_build("ours.nets:two_layers", seed).state_dict() for seed in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["head.weight"], other["head.weight"])
    assert not torch.equal(one["backbone.1.weight"], other["backbone.1.weight"])


def test_trying_it_leaves_no_trace() -> None:
    model = _build("ours.nets:two_layers")
    assert all(module.training for module in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert int(model.get_buffer("backbone.2.num_batches_tracked")) == 0


def test_it_trains() -> None:
    config = complete_config(
        {
            "data": {"name": "digits"},
            "model": {"name": "ours.nets:two_layers", "width": 32},
            "loss": {"name": "cross_entropy"},
            "training": {"epochs": 2, "device": "cpu"},
            "k": 2,
        }
    )
    result = train(config)
    assert result.status == "done"
    assert result.metrics["test/top2_accuracy"] > 0.8  # chance: 0.2


def test_its_settings_are_taken_as_they_stand_and_nothing_is_imported() -> None:
    settings = {"name": "nowhere:at_all", "width": 3, "rates": [0.1, None], "more": {"deep": True}}
    assert check_model(settings) == settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"name": "ours.nets:"},
            "model.name must be a model's name or package.module:function, got 'ours.nets:'.",
        ),
        ({"name": "a b:c"}, "model.name must be a model's name or package.module:function, got 'a b:c'."),
        ({"name": "a:b", "width": {1, 2}}, "model.width must be plain data, got {1, 2}."),
        ({"name": "a:b", "width": float("nan")}, "model.width must be plain data, got nan."),
        ({"name": "a:b", "width": {1: 2}}, "model.width must be plain data, got {1: 2}."),
    ],
)
def test_what_is_wrong_is_told_when_a_study_is_read(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_model(settings)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("theirs:net", {}, "theirs can't be imported: ModuleNotFoundError: No module named 'theirs'"),
        ("ours.broken:net", {}, "ours.broken can't be imported: ModuleNotFoundError: No module named 'something_"),
        ("ours.nets:net", {}, "model.name must name a function, got 'ours.nets:net'; ours.nets has none of that name."),
        ("ours.nets:number", {}, "model.name must name a function, got 'ours.nets:number';"),
        ("ours.nets:two_layers", {"widht": 3}, "two_layers got an unexpected keyword argument 'widht'."),
        ("ours.nets:two_layers", {"input_shape": 3}, "two_layers multiple values for argument 'input_shape'."),
        (
            "ours.nets:three_things",
            {},
            "three_things must give (network, number of features), got (Sequential, int, int).",
        ),
        ("ours.nets:no_count", {}, "no_count must give (network, number of features), got Sequential."),
        (
            "ours.nets:wrong_count",
            {},
            "wrong_count must give features (1, 5) for one example, got a tensor of shape (1, 6).",
        ),
        ("ours.nets:keeps_space", {}, "must give features (1, 4) for one example, got a tensor of shape (1, 4, 2, 2)."),
        (
            "ours.nets:keeps_its_classifier",
            {},
            "must use every parameter for its features, got classifier.weight unused.",
        ),
        ("ours.nets:uses_nothing", {}, "must use every parameter for its features, got body.weight unused."),
        ("ours.nets:frozen", {}, "must keep weights that don't learn as buffers, got 1.weight frozen."),
    ],
)
def test_what_is_wrong_is_told_before_training(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        _build(name, **settings)
    assert message in str(caught.value)


def test_an_error_of_its_own_is_passed_on() -> None:
    with pytest.raises(ArithmeticError, match="of its own"):
        _build("ours.nets:breaks")
