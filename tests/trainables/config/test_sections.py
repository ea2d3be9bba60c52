from __future__ import annotations

from typing import Any

import pytest

from setsweep.data import base_settings, load_base, load_dataset
from setsweep.trainables.config.sections import check_data

KNOWN = "Known: cifar100, cifar100_lt, circle, digits, fashion_mnist, image_folder, plantnet300k."


def test_defaults_are_filled_in_and_the_name_comes_first() -> None:
    complete = check_data({"label_noise": 0.2, "name": "cifar100"})

    assert list(complete.items()) == [("name", "cifar100"), ("label_noise", 0.2), ("split_seed", 0), ("subset", None)]


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
            "Known: label_noise, split_seed.",
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
        ({"name": "cifar100", "split_seed": None}, "data.split_seed must be a whole number >= 0, got None."),
        ({"name": "cifar100", "split_seed": 0.5}, "data.split_seed must be a whole number >= 0, got 0.5."),
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
    ],
)
def test_wrong_settings_are_refused_with_the_rule_and_the_value(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        check_data(settings)

    assert str(refusal.value) == message


def test_runs_share_data_whatever_their_label_noise() -> None:
    assert base_settings({"name": "cifar100", "label_noise": 0.3}) == base_settings({"name": "cifar100"})
    assert base_settings({"name": "cifar100", "subset": 10_000}) != base_settings({"name": "cifar100"})


def test_data_drawn_from_the_seed_have_no_shared_part() -> None:
    assert base_settings({"name": "circle"}) is None
    with pytest.raises(ValueError, match=r"shared data must not depend on a run's seed, got 'circle'\."):
        load_base({"name": "circle"})


def test_a_shared_part_for_data_drawn_from_the_seed_is_refused() -> None:
    digits = load_base({"name": "digits"})

    with pytest.raises(ValueError, match=r"base must be None for circle"):
        load_dataset({"name": "circle"}, seed=0, base=digits)
