"""The legal values of training."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from trainables.problems import ConfigError
from trainables.run_config import Optimizer, Training
from trainables.training_rules import RULES, check_training, default_training, flatten, nest


def test_every_setting_has_a_rule_and_a_legal_default() -> None:
    defaults = default_training()
    assert set(RULES) == set(defaults)
    for path, default in defaults.items():
        assert RULES[path].check(default) == default


def test_nothing_given_is_the_default() -> None:
    assert check_training({}) == Training()


def test_values_come_in_their_own_types() -> None:
    training = check_training(
        {
            "epochs": 3.0,
            "batch_size": "full",
            "optimizer": {"name": "adam", "lr": 1, "betas": [0, 0.5]},
            "milestones": [1],
        }
    )
    assert repr(training) == repr(
        Training(
            epochs=3, batch_size="full", optimizer=Optimizer(name="adam", lr=1.0, betas=(0.0, 0.5)), milestones=(1,)
        )
    )


def test_nest_is_the_inverse_of_flatten() -> None:
    nested = dataclasses.asdict(Training())
    assert nest(flatten(nested)) == nested


@pytest.mark.parametrize(
    ("plain", "messages"),
    [
        ({"epochs": 0}, ["training.epochs must be >= 1, got 0."]),
        ({"epochs": True}, ["training.epochs must be a whole number, got True."]),
        ({"batch_size": None}, ["training.batch_size must be a whole number or full, got None."]),
        ({"gamma": 2}, ["training.gamma must be > 0 and <= 1, got 2."]),
        ({"reference_batch_size": 0}, ["training.reference_batch_size must be >= 1 or null, got 0."]),
        (
            {"optimizer": {"name": "sdg"}},
            ["training.optimizer.name must be one of sgd, adam, adamw, got 'sdg'. Did you mean 'sgd'?"],
        ),
        ({"optimizer": "sgd"}, ["training.optimizer must be a mapping, got 'sgd'."]),
        ({"optimizer": {"lr": float("nan")}}, ["training.optimizer.lr must be a number, got nan."]),
        ({"optimizer": {"lr": 10**400}}, [f"training.optimizer.lr must be a number, got {10**400}."]),
        (
            {"epochs": 0, "keep": "all", "milestones": [3, 2]},
            [
                "training.epochs must be >= 1, got 0.",
                "training.keep must be one of best, last, got 'all'.",
                "training.milestones must be ascending, got [3, 2].",
            ],
        ),
        (
            {"optimizer": {"name": "adamw", "momentum": 0.9, "nesterov": True}},
            [
                "training.optimizer.momentum must be left out, since adamw has none, got 0.9.",
                "training.optimizer.nesterov must be left out, since adamw has none, got True.",
            ],
        ),
    ],
)
def test_every_broken_rule_is_told(plain: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        check_training(plain)
    assert str(caught.value).splitlines() == messages
