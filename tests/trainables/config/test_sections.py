"""The sections that name a data set, a model or a loss: checked, and complete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.losses.declaration import Hyperparameter
from setsweep.trainables.config.sections import (
    check_data,
    check_hyperparameter,
    check_loss,
    check_model,
    declared_settings,
    num_classes,
    without_later,
)
from setsweep.trainables.models.table import MODELS

KNOWN = (
    "Known: cifar100, cifar100_lt, circle, digits, fashion_mnist, image_folder, imagenet, imagenet_lt, plantnet300k."
)


def test_defaults_are_filled_in_and_the_name_comes_first() -> None:
    complete = check_data({"label_noise": 0.2, "name": "cifar100"})

    assert list(complete.items()) == [
        ("name", "cifar100"),
        ("label_noise", 0.2),
        ("label_noise_kind", "exact"),
        ("calibration", 0.0),
        ("split_seed", 0),
        ("subset", None),
    ]


def test_completing_again_changes_nothing() -> None:
    once = check_data({"name": "circle", "shift": 75})

    assert check_data(once) == once


@pytest.mark.parametrize(
    ("name", "key", "given", "kept"),
    [
        ("circle", "shift", 60, 60.0),
        ("cifar100", "label_noise", 0, 0.0),
        ("cifar100", "subset", 10_000.0, 10_000),
        ("cifar100", "subset", None, None),
        ("digits", "split_seed", 3.0, 3),
        ("image_folder", "folder", "photos", "photos"),
    ],
)
def test_values_take_the_type_of_the_default(name: str, key: str, given: Any, kept: Any) -> None:
    value = check_data({"name": name, key: given})[key]

    assert value == kept
    assert type(value) is type(kept)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"name": "circl"},
            "data.name: unknown data set 'circl'. Did you mean 'circle'? " + KNOWN,
        ),
        ({}, "data.name must be a name, got None."),
        (
            {"name": "digits", "label_nose": 0.1},
            "data.label_nose: unknown setting 'label_nose'. Did you mean 'label_noise'? "
            "Known: calibration, label_noise, label_noise_kind, split_seed.",
        ),
        ({"name": "digits", "label_noise": 1.5}, "data.label_noise must be between 0 and 1, got 1.5."),
        ({"name": "fashion_mnist", "label_noise": -0.1}, "data.label_noise must be between 0 and 1, got -0.1."),
        ({"name": "cifar100", "label_noise": 2}, "data.label_noise must be between 0 and 1, got 2."),
        ({"name": "cifar100", "label_noise": "some"}, "data.label_noise must be a number between 0 and 1, got 'some'."),
        (
            {"name": "cifar100", "label_noise": float("nan")},
            "data.label_noise must be a number between 0 and 1, got nan.",
        ),
        ({"name": "cifar100", "label_noise": True}, "data.label_noise must be a number between 0 and 1, got True."),
        ({"name": "cifar100", "split_seed": None}, "data.split_seed must be a whole number >= 0 or run, got None."),
        ({"name": "cifar100", "split_seed": 0.5}, "data.split_seed must be a whole number >= 0 or run, got 0.5."),
        (
            {"name": "cifar100", "subset": "all"},
            "data.subset must be a whole number between 100 and 45000 or null, got 'all'.",
        ),
        ({"name": "cifar100", "subset": 99}, "data.subset must be between 100 and 45000 or null, got 99."),
        ({"name": "fashion_mnist", "subset": 55_001}, "data.subset must be between 10 and 55000 or null, got 55001."),
        ({"name": "circle", "sigma": 0}, "data.sigma must be > 0, got 0."),
        ({"name": "circle", "shift": -1}, "data.shift must be between 0 and 360, got -1."),
        ({"name": "circle", "minor": 1.1}, "data.minor must be between 0 and 1, got 1.1."),
        ({"name": "circle", "classes": 1}, "data.classes must be >= 2, got 1."),
        ({"name": "circle", "per_class": 0}, "data.per_class must be >= 1, got 0."),
        ({"name": "cifar100_lt", "imbalance": 0.5}, "data.imbalance must be between 1 and 450, got 0.5."),
        ({"name": "image_folder", "folder": 3}, "data.folder must be text, got 3."),
        ({"name": "image_folder", "folder": None}, "data.folder must be text, got None."),
        ({"name": "image_folder", "crop": 257}, "data.crop must be <= resize = 256, got 257."),
        ({"name": "image_folder", "resize": 0}, "data.resize must be >= 1, got 0."),
        ({"name": "image_folder", "val_fraction": 1}, "data.val_fraction must be > 0 and < 1, got 1."),
        ({"name": "image_folder", "store": "disk"}, "data.store must be one of files, memory, got 'disk'."),
        ({"name": "image_folder", "unreadable": "warn"}, "data.unreadable must be one of error, skip, got 'warn'."),
        (
            {"name": "plantnet300k", "normalisation": "symmetric"},
            "data.normalisation must be one of imagenet, plantnet, got 'symmetric'.",
        ),
        ({"name": "plantnet300k", "label_noise": 1.5}, "data.label_noise must be between 0 and 1, got 1.5."),
        (
            {"name": "cifar100", "label_noise_kind": "papers"},
            "data.label_noise_kind must be one of exact, published, got 'papers'.",
        ),
        (
            {"name": "plantnet300k", "label_noise_kind": "published"},
            "data.label_noise_kind must be exact where the classes don't divide into blocks of 5, "
            "got published for 1081.",
        ),
        (
            {"name": "circle", "classes": 12, "label_noise_kind": "published"},
            "data.label_noise_kind must be exact where the classes don't divide into blocks of 5, "
            "got published for 12.",
        ),
    ],
)
def test_wrong_settings_are_refused_with_the_rule_and_the_value(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        check_data(settings)

    assert str(refusal.value) == message


@pytest.mark.parametrize("classes", [5, 10, 15])
def test_published_label_noise_is_for_classes_that_divide_into_blocks(classes: int) -> None:
    settings = {"name": "circle", "classes": classes, "label_noise_kind": "published"}
    assert check_data(settings)["label_noise_kind"] == "published"


def test_a_model_has_its_defaults_and_its_contradictions() -> None:
    assert check_model({"name": "mlp", "hidden": 3.0}) == {"name": "mlp", "hidden": 3, "layers": 1, "bias": True}
    with pytest.raises(ValueError) as refusal:
        check_model({"name": "densenet", "depth": 41})
    assert str(refusal.value) == "model.depth must be 4 plus a multiple of 6 with bottlenecks, got 41."


@pytest.mark.parametrize(
    ("settings", "k", "complete"),
    [
        ({"name": "focal"}, 2, {"name": "focal", "gamma": 2.0}),
        ({"name": "avgk", "alpha": 2}, 3, {"name": "avgk", "alpha": 2.0, "y_in_negatives": False, "k": 3}),
        ({"name": "topk_hinge", "k": 4}, 3, {"name": "topk_hinge", "k": 4}),
        ({"name": "topk_hinge"}, None, {"name": "topk_hinge"}),
    ],
)
def test_a_loss_has_its_defaults_and_a_k_of_its_own_or_that_of_the_run(
    settings: dict[str, Any], k: int | None, complete: dict[str, Any]
) -> None:
    assert check_loss(settings, k=k, classes=10) == complete


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        ("avgk", ["loss must be a mapping, got 'avgk'."]),
        ({}, ["loss.name must be a name, got None."]),
        ({"name": "focal", "k": 2}, ["loss.k: unknown hyperparameter 'k'. Known: gamma."]),
        (
            {"name": "avgk", "alpha": -1, "k": 10, "beta": 1},
            [
                "loss.alpha must be >= 0, got -1.",
                "loss.k must be between 1 and num_classes - 1 = 9, got 10.",
                "loss.beta: unknown hyperparameter 'beta'. Known: alpha, k, y_in_negatives.",
            ],
        ),
    ],
)
def test_every_broken_rule_of_a_loss_is_told(settings: Any, messages: list[str]) -> None:
    with pytest.raises(ValueError) as refusal:
        check_loss(settings, k=2, classes=10)
    assert str(refusal.value).splitlines() == messages


def test_a_hyperparameter_is_checked_by_itself_as_a_search_tries_it() -> None:
    assert check_hyperparameter("noised_topk_hinge", "num_samples", "1e1", None) == 10
    assert check_hyperparameter("avgk", "k", 9, 10) == 9
    with pytest.raises(ValueError, match=r"^must be between 1 and num_classes - 1 = 9, got 10\.$"):
        check_hyperparameter("avgk", "k", 10, 10)
    with pytest.raises(ValueError, match=r"^unknown hyperparameter 'gama'\. Did you mean 'gamma'\? Known: gamma\.$"):
        check_hyperparameter("focal", "gama", 1, None)


@pytest.mark.parametrize(
    ("section", "name"),
    [(section, name) for section, table in (("data", DATASETS), ("model", MODELS), ("loss", LOSSES)) for name in table],
)
def test_every_setting_of_every_row_takes_its_default_and_says_what_it_does(section: str, name: str) -> None:
    for key, setting in declared_settings(section, {"name": name}).items():
        assert setting.about, key
        assert setting.rule.words, key
        if (section, key) != ("loss", "k"):  # which has none
            assert setting.check(setting.default) == setting.default, key


@pytest.mark.parametrize("section", ["data", "model"])
def test_a_function_of_the_users_has_the_settings_that_are_given(section: str) -> None:
    settings = declared_settings(section, {"name": "ours.nets:function", "width": 3})
    assert settings["width"].default == 3
    assert without_later(section, {"name": "ours.nets:function", "width": 3}) == {
        "name": "ours.nets:function",
        "width": 3,
    }


def test_settings_that_came_later_are_left_out_where_they_have_their_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"gamma": Hyperparameter(default=2.0), "tilt": Hyperparameter(default=0.5, later=True)}
    monkeypatch.setitem(LOSSES, "tilted", replace(LOSSES["focal"], name="tilted", hyperparameters=rows))
    plain = {"name": "tilted", "gamma": 2.0}
    assert without_later("loss", plain | {"tilt": 0.5}) == plain
    assert without_later("loss", plain | {"tilt": 0.25}) == plain | {"tilt": 0.25}
    assert without_later("loss", plain) == plain


@pytest.mark.parametrize(
    ("data", "classes"),
    [({"name": "digits"}, 10), ({"name": "circle", "classes": 7}, 7), ({"name": "image_folder", "folder": "x"}, None)],
)
def test_the_classes_are_known_before_the_data_are_loaded_where_that_can_be(
    data: dict[str, Any], classes: int | None
) -> None:
    assert num_classes(check_data(data)) == classes
