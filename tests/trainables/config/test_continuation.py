"""Which configurations may go on from the checkpoint of another."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from setsweep.trainables.config.complete import complete_config, with_values
from setsweep.trainables.config.continuation import check_continuation
from setsweep.trainables.settings.problems import ConfigError

PLAIN: dict[str, Any] = {
    "data": {"name": "digits"},
    "model": {"name": "mlp", "hidden": 8},
    "loss": {"name": "avgk"},
    "training": {"optimizer": {"momentum": 0.0}},
    "k": [1, 2],
    "seed": 3,
}
BEFORE = complete_config(PLAIN).to_dict()


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        ({"model.hidden": 9}, ["model.hidden must be 8, as in the checkpoint, got 9."]),
        ({"model": {"name": "linear"}}, ["model.name must be mlp, as in the checkpoint, got 'linear'."]),
        ({"data.label_noise": 0.1}, ["data.label_noise must be 0.0, as in the checkpoint, got 0.1."]),
        ({"loss.name": "focal"}, ["loss.name must be avgk, as in the checkpoint, got 'focal'."]),
        ({"training.ema": 0.5}, ["training.ema must be 0, as in the checkpoint, got '> 0'."]),
        (
            {"training.optimizer.name": "adam", "training.keep": "last"},
            [
                "training.optimizer.name must be sgd, as in the checkpoint, got 'adam'.",
                "training.keep must be best, as in the checkpoint, got 'last'.",
            ],
        ),
        (
            {"k": [2], "seed": 4, "test": False},
            [
                "k must be [1, 2], as in the checkpoint, got [2].",
                "seed must be 3, as in the checkpoint, got 4.",
                "test must be True, as in the checkpoint, got False.",
            ],
        ),
    ],
)
def test_what_the_state_is_made_of_must_stay(values: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        check_continuation(BEFORE, complete_config(with_values(PLAIN, values)))
    assert str(caught.value).splitlines() == messages


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"loss.alpha": 3.0, "training.optimizer.lr": 3.0, "training.optimizer.momentum": 0.5},
        {"training.batch_size": "full", "training.epochs": 90, "training.milestones": [80], "training.patience": 2},
    ],
)
def test_what_steers_the_training_may_change(values: dict[str, Any]) -> None:
    check_continuation(BEFORE, complete_config(with_values(PLAIN, values)))


def test_the_decay_of_averaged_weights_may_change_as_long_as_there_is_one() -> None:
    before, after = (complete_config(with_values(PLAIN, {"training.ema": decay})) for decay in (0.5, 0.9))
    check_continuation(before.to_dict(), after)


def test_a_setting_that_a_checkpoint_does_not_know_yet_is_no_difference() -> None:
    older = copy.deepcopy(BEFORE)
    del older["model"]["hidden"]
    check_continuation(older, complete_config(PLAIN))
