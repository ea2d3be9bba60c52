"""Run configurations and the keys that name their results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import pytest

from setsweep.data.augmentation import Augmentation
from setsweep.losses import LOSSES
from setsweep.trainables.config import run_config
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import (
    Optimizer,
    RunConfig,
    Training,
    without_later,
)

CONFIG = RunConfig(
    data={"name": "digits", "label_noise": 0.2, "split_seed": 0},
    model={"name": "mlp", "hidden": 64, "layers": 1, "bias": True},
    loss={"name": "avgk", "alpha": 0.5, "y_in_negatives": False, "k": 2},
    training=Training(epochs=7, milestones=(3, 5), optimizer=Optimizer(lr=0.05, momentum=0.9)),
    k=(2, 3),
    seed=11,
)
OF_FOCAL = "1015688fbbccb6be"  # the key with focal loss
OTHERS: dict[str, Any] = {
    "epochs": 8,
    "batch_size": "full",
    "milestones": (3, 6),
    "gamma": 0.2,
    "keep": "last",
    "evaluate_every": 2,
    "threshold_scores": "softmax",
    "head": "sccp",
    "reference_batch_size": 64,
    "device": "cpu",
    "warmup_epochs": 1,
    "clip_norm": 1.0,
    "ema": 0.99,
    "patience": 3,
    "precision": "bfloat16",
    "compile": True,
}
OTHER_AUGMENTATIONS: dict[str, Any] = {"pad_crop": 4, "flip": True, "cutout": 8, "mixup": 0.2}
OTHER_OPTIMIZERS: dict[str, Any] = {
    "name": "adam",
    "lr": 0.06,
    "momentum": 0.8,
    "nesterov": True,
    "weight_decay": 1e-4,
    "betas": (0.9, 0.99),
}


def test_the_key_of_a_configuration_stays_what_it_is() -> None:
    # A change here means that every result found so far is computed again. Where the numbers of a run changed, that is
    # right, and RESULTS_VERSION is raised; where they did not, the change should not have reached the key.
    assert CONFIG.key == "9b60948c0f79f79e"


def test_what_came_later_and_is_not_set_is_left_out_of_a_configuration() -> None:
    plain = CONFIG.to_dict()
    assert set(plain["training"]) - set(without_later(plain)["training"]) == {
        "warmup_epochs", "clip_norm", "ema", "patience", "precision", "compile", "augment",
    }  # fmt: skip
    plain["training"] |= {"ema": 0.5, "augment": {**plain["training"]["augment"], "cutout": 8}}
    assert without_later(plain)["training"]["ema"] == 0.5
    assert without_later(plain)["training"]["augment"] == {"cutout": 8}
    assert {**without_later(plain), "training": None} == {**plain, "training": None}
    assert without_later({"data": {}, "search": {}}) == {"data": {}, "search": {}}


@pytest.mark.parametrize("data", [{"name": "digits", "label_noise": 0.2}, {"name": "a.module:of_mine", "size": 3}])
def test_label_noise_of_the_first_kind_is_no_part_of_the_key_and_another_kind_is(data: dict[str, Any]) -> None:
    keys = [
        replace(CONFIG, data={**data, **kind}).key
        for kind in ({}, {"label_noise_kind": "exact"}, {"label_noise_kind": "published"})
    ]
    assert keys[0] == keys[1] != keys[2]


def test_the_key_does_not_depend_on_the_order_of_the_settings() -> None:
    turned = {name: dict(reversed(getattr(CONFIG, name).items())) for name in ("data", "model", "loss")}
    assert replace(CONFIG, **turned).key == CONFIG.key
    assert RunConfig.from_dict(dict(reversed(CONFIG.to_dict().items()))).key == CONFIG.key


def test_another_process_with_another_hash_seed_gives_the_same_key() -> None:
    code = """
import json, sys
from setsweep.trainables.config.run_config import RunConfig
print(RunConfig.from_dict(json.load(sys.stdin)).key)
"""
    shown = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(CONFIG.to_dict()),
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert shown.stdout.strip() == CONFIG.key


def test_every_field_is_part_of_the_key() -> None:
    assert set(OTHERS) | {"optimizer", "augment"} == {field.name for field in fields(Training)}
    assert set(OTHER_AUGMENTATIONS) == {field.name for field in fields(Augmentation)}
    assert set(OTHER_OPTIMIZERS) == {field.name for field in fields(Optimizer)}
    others = [
        *(replace(CONFIG, training=replace(CONFIG.training, **{name: value})) for name, value in OTHERS.items()),
        *(
            replace(
                CONFIG, training=replace(CONFIG.training, optimizer=replace(CONFIG.training.optimizer, **{name: value}))
            )
            for name, value in OTHER_OPTIMIZERS.items()
        ),
        *(
            replace(CONFIG, training=replace(CONFIG.training, augment=Augmentation(**{name: value})))
            for name, value in OTHER_AUGMENTATIONS.items()
        ),
        *(
            replace(CONFIG, **{part: {**getattr(CONFIG, part), "name": "another"}})
            for part in ("data", "model", "loss")
        ),
        replace(CONFIG, loss={**CONFIG.loss, "alpha": 0.5000000000000001}),
        replace(CONFIG, k=(2,)),
        replace(CONFIG, seed=12),
        replace(CONFIG, test=False),
    ]
    assert len({CONFIG.key, *(other.key for other in others)}) == 1 + len(others)


def test_the_version_of_the_results_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = replace(CONFIG).key
    monkeypatch.setattr(run_config, "RESULTS_VERSION", run_config.RESULTS_VERSION + 1)
    assert replace(CONFIG).key != key


def test_a_loss_whose_results_have_changed_names_its_runs_anew_and_no_other_does_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = CONFIG.key
    monkeypatch.setitem(LOSSES, "avgk", replace(LOSSES["avgk"], revision=1))
    after = replace(CONFIG).key
    assert after != before
    assert replace(CONFIG, loss={"name": "focal", "gamma": 2.0}).key == OF_FOCAL
    monkeypatch.setitem(LOSSES, "avgk", replace(LOSSES["avgk"], revision=2))
    assert replace(CONFIG).key not in (before, after)


@pytest.mark.parametrize("name", LOSSES)
def test_thresholds_of_scaled_scores_are_the_one_revision(name: str) -> None:
    assert LOSSES[name].revision == (1 if LOSSES[name].scaled_by else 0)


def test_plain_data_are_what_comes_back_from_json() -> None:
    own = {"name": "a.module:of_mine", "sizes": (1, 2.5), "nested": {3: None, "x": [True, {"y": (0,)}]}}

    plain = replace(CONFIG, data=own).to_dict()

    assert plain["data"] == json.loads(json.dumps(own))
    assert plain == json.loads(json.dumps(plain))


@pytest.mark.parametrize("augment", [Augmentation(), Augmentation(pad_crop=4, mixup=0.5)])
def test_a_configuration_survives_json(augment: Augmentation) -> None:
    config = replace(CONFIG, training=replace(CONFIG.training, augment=augment))
    again = RunConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert again.key == config.key


def test_a_configuration_with_little_said_takes_the_defaults() -> None:
    plain = {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "focal"}, "k": [1], "seed": 0}
    assert RunConfig.from_dict(plain).training == Training()
    assert RunConfig.from_dict(plain).test


def test_another_seed_has_the_key_that_its_configuration_has_by_itself() -> None:
    config = complete_config(
        {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "focal"}, "k": 2}
    )
    for seed in (0, 7, 2**62):
        assert config.with_seed(seed).key == replace(config, seed=seed).key
        assert config.with_seed(seed).with_seed(1).key == replace(config, seed=1).key
    odd = replace(config, data={"name": "a:b", "seed": 0, "test": True})
    assert odd.with_seed(3).key == replace(odd, seed=3).key
