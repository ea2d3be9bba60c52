"""The legal values of training."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from setsweep.data.augmentation import Augmentation
from setsweep.losses import LOSSES
from setsweep.trainables.config.run_config import TRAINING, Optimizer, Training
from setsweep.trainables.config.training import (
    check_for_loss,
    check_training,
    check_value,
    default_training,
    flatten,
    nest,
)
from setsweep.trainables.settings.problems import ConfigError


def test_every_setting_has_a_legal_default_and_says_what_it_does() -> None:
    defaults = default_training()
    assert all(setting.about and setting.rule.words for setting in TRAINING.values())
    for path, default in defaults.items():
        assert TRAINING[path].check(default) == default


def test_nothing_given_is_the_default() -> None:
    assert check_training({}) == Training()


def test_values_come_in_their_own_types() -> None:
    training = check_training(
        {
            "epochs": 3.0,
            "batch_size": "full",
            "optimizer": {"name": "adam", "lr": 1, "betas": [0, 0.5]},
            "milestones": [1],
            "clip_norm": 1,
            "ema": 0,
            "augment": {"mixup": 1},
        }
    )
    assert repr(training) == repr(
        Training(
            epochs=3,
            batch_size="full",
            optimizer=Optimizer(name="adam", lr=1.0, betas=(0.0, 0.5)),
            milestones=(1,),
            clip_norm=1.0,
            ema=0.0,
            augment=Augmentation(mixup=1.0),
        )
    )


def test_nest_is_the_inverse_of_flatten() -> None:
    nested = dataclasses.asdict(Training())
    assert nest(flatten(nested)) == nested


@pytest.mark.parametrize(
    ("plain", "messages"),
    [
        ({"epochs": 0}, ["training.epochs must be >= 1, got 0."]),
        ({"epochs": True}, ["training.epochs must be a whole number >= 1, got True."]),
        ({"batch_size": None}, ["training.batch_size must be a whole number >= 1 or full, got None."]),
        ({"clip_norm": 0}, ["training.clip_norm must be > 0 or null, got 0."]),
        ({"clip_norm": "tight"}, ["training.clip_norm must be a number > 0 or null, got 'tight'."]),
        ({"ema": 1}, ["training.ema must be >= 0 and < 1, got 1."]),
        ({"patience": 0}, ["training.patience must be >= 1 or null, got 0."]),
        ({"warmup_epochs": -1}, ["training.warmup_epochs must be >= 0, got -1."]),
        ({"epochs": 3, "warmup_epochs": 3}, ["training.warmup_epochs must be below training.epochs = 3, got 3."]),
        (
            {"patience": 2, "keep": "last"},
            ["training.patience must be null with training.keep = last, which waits for no best epoch, got 2."],
        ),
        (
            {"precision": "bfloat"},
            ["training.precision must be one of float32, tf32, bfloat16, got 'bfloat'. Did you mean 'bfloat16'?"],
        ),
        ({"compile": 1}, ["training.compile must be true or false, got 1."]),
        ({"augment": {"pad_crop": -1}}, ["training.augment.pad_crop must be >= 0, got -1."]),
        ({"augment": {"cutout": -1}}, ["training.augment.cutout must be >= 0, got -1."]),
        ({"augment": {"mixup": -1}}, ["training.augment.mixup must be >= 0, got -1."]),
        ({"augment": "flip"}, ["training.augment must be a mapping, got 'flip'."]),
        ({"augment": {"flip": 0.5}}, ["training.augment.flip must be true or false, got 0.5."]),
        ({"gamma": 2}, ["training.gamma must be > 0 and <= 1, got 2."]),
        ({"reference_batch_size": 0}, ["training.reference_batch_size must be >= 1 or null, got 0."]),
        (
            {"optimizer": {"name": "sdg"}},
            ["training.optimizer.name must be one of sgd, adam, adamw, got 'sdg'. Did you mean 'sgd'?"],
        ),
        ({"optimizer": "sgd"}, ["training.optimizer must be a mapping, got 'sgd'."]),
        ({"optimizer": {"lr": float("nan")}}, ["training.optimizer.lr must be a number > 0, got nan."]),
        ({"optimizer": {"lr": 10**400}}, [f"training.optimizer.lr must be a number > 0, got {10**400}."]),
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
        (
            {"optimizer": {"nesterov": True}},
            ["training.optimizer.nesterov must be false without momentum, got True."],
        ),
        (
            {"optimizer": {"betas": [0.5, 0.5]}},
            ["training.optimizer.betas must be left out, since sgd has none, got (0.5, 0.5)."],
        ),
    ],
)
def test_every_broken_rule_is_told(plain: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        check_training(plain)
    assert str(caught.value).splitlines() == messages


def test_a_single_value_is_checked_as_a_search_tries_it() -> None:
    assert repr(check_value("optimizer.lr", "1e-1")) == "0.1"
    for path, value, message in (
        ("ema", 1, "must be >= 0 and < 1, got 1."),
        ("optimizer", "sgd", "must be a mapping, got 'sgd'."),
        ("epoch", 3, "unknown setting 'epoch'. Did you mean 'epochs'? Known: augment.cutout, "),
    ):
        with pytest.raises(ValueError) as caught:
            check_value(path, value)
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize("loss", LOSSES)
def test_mixed_labels_are_for_losses_that_take_them(loss: str) -> None:
    check_for_loss(Training(), LOSSES[loss])
    mixed = Training(augment=Augmentation(mixup=0.2))
    if LOSSES[loss].soft_labels:
        check_for_loss(mixed, LOSSES[loss])
        return
    with pytest.raises(ConfigError) as caught:
        check_for_loss(mixed, LOSSES[loss])
    message = f"training.augment.mixup must be 0 with {loss}, which takes no soft labels, got 0.2."
    assert str(caught.value) == message


@pytest.mark.parametrize("loss", LOSSES)
def test_the_other_head_is_for_losses_where_it_scores_the_classes(loss: str) -> None:
    other = Training(head="sccp")
    if LOSSES[loss].either_head_predicts:
        check_for_loss(other, LOSSES[loss])
        return
    with pytest.raises(ConfigError) as caught:
        check_for_loss(other, LOSSES[loss])
    message = f"training.head must be ml with {loss}, whose other head does not score the classes, got sccp."
    assert str(caught.value) == message
