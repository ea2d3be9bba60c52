"""Run configurations: completed, or refused with every reason."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from setsweep.trainables.config.complete import complete_config, with_hyperparameters, with_training, with_values
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.settings.problems import ConfigError

PLAIN: dict[str, Any] = {
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "loss": {"name": "avgk"},
    "k": [2, 3],
}


def messages_of(plain: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        complete_config(plain)
    return str(caught.value).splitlines()


def test_a_default_left_out_and_spelled_out_give_the_same_key() -> None:
    short = complete_config(PLAIN)
    spelled = copy.deepcopy(PLAIN)
    spelled["data"] |= {"label_noise": 0}
    spelled["model"] |= {"bias": True}
    spelled["loss"] |= {"alpha": 1, "k": 2}
    spelled |= {"training": {"epochs": 10, "optimizer": {"lr": 0.1, "weight_decay": 0}}, "seed": 0, "test": True}
    assert complete_config(spelled) == short
    assert complete_config(spelled).key == short.key


def test_a_completed_configuration_stays_as_it_is() -> None:
    config = complete_config(PLAIN)
    again = complete_config(config.to_dict())
    assert again == config
    assert again.key == config.key == RunConfig.from_dict(config.to_dict()).key


def test_configurations_share_no_section_that_one_of_them_could_change() -> None:
    first, second = complete_config(PLAIN), complete_config(PLAIN)

    assert first == second
    assert first.data is not second.data
    assert first.model is not second.model


def test_true_is_no_1_also_where_1_has_passed_before() -> None:
    complete_config({**PLAIN, "training": {"epochs": 1}})

    assert messages_of({**PLAIN, "training": {"epochs": True}}) == [
        "training.epochs must be a whole number >= 1, got True."
    ]


def test_real_hyperparameters_given_as_whole_numbers_become_real() -> None:
    config = complete_config({**PLAIN, "loss": {"name": "avgk", "alpha": 2}, "k": 2})
    assert repr(config.loss["alpha"]) == "2.0"
    assert config.k == (2,)


def test_a_loss_without_k_gets_none() -> None:
    assert complete_config({**PLAIN, "loss": {"name": "cross_entropy"}}).loss == {"name": "cross_entropy"}


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({"data": {"name": "digits", "label_noise": 2}}, ["data.label_noise must be between 0 and 1, got 2."]),
        (
            {"data": {"name": "digits", "split_seed": []}},
            ["data.split_seed must be a whole number >= 0 or run, got []."],
        ),
        ({"data": {"name": ["digits"]}}, ["data.name must be a name, got ['digits']."]),
        ({"model": {"name": "linear", "bias": 1}}, ["model.bias must be true or false, got 1."]),
        ({"model": "linear"}, ["model must be a mapping, got 'linear'."]),
        ({"loss": {"name": "avgk", "alpha": -1}}, ["loss.alpha must be >= 0, got -1."]),
        ({"loss": {"name": "avgk", "k": 10}}, ["loss.k must be between 1 and num_classes - 1 = 9, got 10."]),
        (
            {"loss": {"name": "noised_topk_hinge", "epsilom": 1}},
            [
                "loss.epsilom: unknown hyperparameter 'epsilom'. Did you mean 'epsilon'? "
                "Known: epsilon, k, num_samples.",
            ],
        ),
        ({"k": 10}, ["k must be between 1 and num_classes - 1 = 9, got 10."]),
        ({"k": []}, ["k must be a whole number or a list of some, got []."]),
        ({"k": [3, 2]}, ["k must be ascending, got [3, 2]."]),
        ({"seed": -1}, ["seed must be between 0 and 9223372036854775807, got -1."]),
        ({"test": "no"}, ["test must be true or false, got 'no'."]),
        ({"training": 3}, ["training must be a mapping, got 3."]),
        ({"training": {"epochs": 0}}, ["training.epochs must be >= 1, got 0."]),
        (
            {"trainig": {}},
            [
                "trainig: unknown field 'trainig'. Did you mean 'training'? "
                "Known: conformal, coverage, data, k, loss, metrics, model, seed, stopping, test, training.",
            ],
        ),
        (
            {"data": {"name": "digit"}, "seed": 1.5, "training": {"epochs": 0}},
            [
                "data.name: unknown data set 'digit'. Did you mean 'digits'? "
                "Known: cifar100, cifar100_lt, circle, digits, fashion_mnist, image_folder, imagenet, imagenet_lt, "
                "plantnet300k.",
                "training.epochs must be >= 1, got 0.",
                "seed must be a whole number between 0 and 9223372036854775807, got 1.5.",
            ],
        ),
    ],
)
def test_every_broken_rule_is_told(changes: dict[str, Any], messages: list[str]) -> None:
    assert messages_of(PLAIN | changes) == messages


@pytest.mark.parametrize("field", ["data", "model", "loss", "k"])
def test_what_has_no_default_must_be_given(field: str) -> None:
    assert messages_of({key: value for key, value in PLAIN.items() if key != field}) == [
        f"{field} must be given, got nothing."
    ]


def test_values_are_put_in_by_path_into_a_copy() -> None:
    before = copy.deepcopy(PLAIN)
    filled = with_values(PLAIN, {"loss.alpha": 2, "training.optimizer.lr": 0.1, "k": 4})
    assert before == PLAIN
    assert filled == PLAIN | {
        "loss": {"name": "avgk", "alpha": 2},
        "training": {"optimizer": {"lr": 0.1}},
        "k": 4,
    }


def test_a_path_into_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^loss\.name must be a mapping, got 'avgk'\.$"):
        with_values(PLAIN, {"loss.name.first": 1})


@pytest.mark.parametrize(
    "loss",
    [
        {"name": "avgk", "alpha": 3},
        {"name": "avgk", "alpha": 0.25, "k": 3},
        {"name": "noised_topk_hinge", "epsilon": 1, "num_samples": 5},
        {"name": "cross_entropy"},
    ],
)
@pytest.mark.parametrize("more", [{}, {"coverage": [0.9], "seed": 4}, {"test": False, "training": {"patience": 3}}])
def test_other_hyperparameters_give_the_configuration_that_they_give_by_themselves(
    loss: dict[str, Any], more: dict[str, Any]
) -> None:
    first = complete_config({**PLAIN, **more, "loss": {"name": loss["name"]}})
    whole = complete_config({**PLAIN, **more, "loss": loss})
    found = with_hyperparameters(first, loss)
    assert (found, found.key, found.with_seed(9).key) == (whole, whole.key, whole.with_seed(9).key)


def test_other_hyperparameters_are_checked_as_by_themselves() -> None:
    with pytest.raises(ConfigError, match=r"loss.alpha must be >= 0, got -1"):
        with_hyperparameters(complete_config(PLAIN), {"name": "avgk", "alpha": -1})


@pytest.mark.parametrize(
    "changed",
    [
        {"optimizer.lr": 0.3},
        {"optimizer.lr": 1, "epochs": 3},
        {"optimizer.name": "adam", "optimizer.betas": [0.8, 0.9]},
        {"warmup_epochs": 2, "ema": 0.9},  # came after the first results: keys know them where they are not as before
        {"augment.flip": True, "milestones": [1, 4]},
        {"batch_size": "full", "keep": "last"},
    ],
)
@pytest.mark.parametrize("before", [{}, {"epochs": 20, "optimizer": {"weight_decay": 0.1}, "ema": 0.5}])
def test_another_training_gives_what_it_would_give_by_itself(before: dict[str, Any], changed: dict[str, Any]) -> None:
    plain = {**PLAIN, "training": before}
    whole = complete_config(with_values(plain, {f"training.{path}": value for path, value in changed.items()}))
    found = with_training(complete_config(plain), changed)
    assert (found, found.key, found.with_seed(9).key) == (whole, whole.key, whole.with_seed(9).key)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"optimizer.lr": 0}, r"training.optimizer.lr must be > 0, got 0"),
        ({"milestones": [10]}, r"training.milestones must be below training.epochs = 10, got 10"),
        ({"augment.mixup": 0.2}, r"training.augment.mixup must be 0 with avgk"),
        ({"optimizer.rl": 1}, r"training.optimizer.rl"),
    ],
)
def test_another_training_is_checked_as_by_itself(changed: dict[str, Any], rule: str) -> None:
    with pytest.raises(ConfigError, match=rule):
        with_training(complete_config(PLAIN), changed)
