"""A run as a trial: the numbers of `train`, however it is saved, restored, interleaved and perturbed in between."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import setsweep.trainables.trial
from setsweep.data import load_base
from setsweep.losses import LOSSES
from setsweep.losses.declaration import Hyperparameter
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.loop import train
from setsweep.trainables.settings.problems import ConfigError
from setsweep.trainables.trial import Trial

BASE: dict[str, Any] = {
    "data": {"name": "circle", "shift": 60.0, "per_class": 16},  # 96 training examples of 6 classes
    "loss": {"name": "cross_entropy"},
    "training": {"epochs": 5, "batch_size": 40, "optimizer": {"lr": 0.5, "momentum": 0.9}},  # 3 steps an epoch
    "k": [1, 2],
    "seed": 3,
}
MLP = {"model": {"name": "mlp", "hidden": 8}}
DROPOUT = """
from math import prod
from torch import nn

def with_dropout(input_shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 8), nn.Dropout(0.5)), 8
"""
RUNS: dict[str, dict[str, Any]] = {
    "momentum": {},
    "adam": {"training.optimizer": {"name": "adam", "lr": 0.1, "momentum": 0.0}},
    "noise": {"loss.name": "noised_topk_hinge", "loss.k": 2},
    "two heads, averaged": {"loss.name": "avgk", "loss.k": 2, "training.ema": 0.9},
    "estimated labels": {"loss.name": "role", "loss.k": 2},
    "the last epoch": {"training.keep": "last"},
    "some epochs evaluated": {"training.evaluate_every": 2},  # epochs 2, 4 and 5
    "patience": {"training.epochs": 30, "training.patience": 2, "k": 2},
    "tested": {"test": True},
    "tested, averaged": {"test": True, "training.ema": 0.9},
    "dropout": {"model": {"name": "trial_models:with_dropout"}},
}
UNSTABLE = {"training.epochs": 20, "training.optimizer.lr": 1e4, "training.optimizer.weight_decay": 1}


@pytest.fixture(autouse=True)
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose training draws from PyTorch's global generator."""
    (tmp_path / "trial_models.py").write_text(DROPOUT)
    monkeypatch.syspath_prepend(str(tmp_path))


def begun(values: Mapping[str, Any]) -> Trial:
    """A trial that has not trained yet, of an `MLP` unless the values say another model."""
    trial = Trial(BASE, None)
    trial.begin(MLP | values)
    return trial


def reports_of(trial: Trial) -> list[dict[str, Any]]:
    """What a trial reports until it is done."""
    reports = [trial.step()]
    while not reports[-1]["done"]:
        reports.append(trial.step())
    return reports


def plain_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration that the base and some values stand for, put together by hand."""
    plain = copy.deepcopy(BASE | MLP) | {"test": False}
    for path, value in values.items():
        section, _, name = path.rpartition(".")
        if section:
            plain[section] |= {name: value} if path != "training.optimizer" else {name: plain[section][name] | value}
        else:
            plain[path] = value
    return plain


@pytest.mark.parametrize("name", RUNS)
def test_reports_are_the_epochs_of_train_and_the_last_is_its_result(name: str) -> None:
    result = train(complete_config(plain_of(RUNS[name])))
    reports = reports_of(begun(RUNS[name]))
    assert result.status == reports[-1].pop("status") == "done"
    assert [report["epoch"] for report in reports] == list(result.epochs)
    last = {"epoch": result.epochs[-1], "done": True, **result.metrics}
    assert reports[-1] == last
    for number, report in enumerate(reports[:-1]):
        curves = {metric: values[number] for metric, values in result.curves.items()}
        assert report == {"epoch": result.epochs[number], "done": False, "status": "training", **curves}
    assert any(metric.startswith("test/") for metric in last) == name.startswith("tested")
    assert (result.stopped is not None) == (name == "patience")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_restored_after_each_evaluation_ends_as_the_uninterrupted_one(name: str, tmp_path: Path) -> None:
    whole = reports_of(begun(RUNS[name]))
    reports: list[dict[str, Any]] = []
    for number in range(len(whole)):
        trial = begun(RUNS[name])
        if number:
            trial.load(tmp_path / str(number - 1))
        reports.append(trial.step())
        torch.manual_seed(number)  # what others draw from the global generator decides nothing
        trial.save(tmp_path / str(number))
    assert reports == whole


def test_runs_in_turns_do_not_disturb_each_other_or_the_global_generator() -> None:
    alone = [reports_of(begun(RUNS["dropout"] | {"seed": seed})) for seed in (0, 1)]
    trials = [begun(RUNS["dropout"] | {"seed": seed}) for seed in (0, 1)]
    before = torch.get_rng_state()
    in_turns = [[trial.step() for trial in trials] for _ in range(5)]
    assert torch.equal(torch.get_rng_state(), before)
    assert [list(reports) for reports in zip(*in_turns, strict=True)] == alone
    assert alone[0] != alone[1]


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_left_of_an_earlier_run(name: str) -> None:
    trial = begun({"seed": 8, "loss.name": "ldam", "training.epochs": 3})
    trial.step()
    trial.begin(MLP | RUNS[name])
    assert reports_of(trial) == reports_of(begun(RUNS[name]))


def test_a_finished_run_reports_its_result_again_and_stays_finished(tmp_path: Path) -> None:
    trial = begun({"test": True})
    result = reports_of(trial)[-1]
    assert trial.step() == result
    trial.save(tmp_path)
    again = begun({"test": True})
    again.load(tmp_path)
    assert again.step() == result


def test_a_tested_run_goes_on_from_its_last_weights_when_it_is_given_more_epochs(tmp_path: Path) -> None:
    values = {"test": True, "training.epochs": 3, "training.optimizer": {"lr": 3.0, "momentum": 0.9}}
    assert 3 not in train(complete_config(plain_of(values))).best_epoch.values()  # the weights tested are not the last
    finished = begun(values)
    reports_of(finished)
    finished.save(tmp_path)
    longer = values | {"training.epochs": 5}
    trial = begun(longer)
    trial.load(tmp_path)
    assert reports_of(trial) == reports_of(begun(longer))[3:]


def test_the_learning_rate_after_a_restore_is_the_new_one(tmp_path: Path) -> None:
    # a milestone after the second epoch divides the rate by ten, and so does a perturbation by hand: 0.5 * 0.1 == 0.05
    with_milestone = reports_of(begun({"training.milestones": [2]}))
    trial = begun({})
    assert [trial.step() for _ in range(2)] == with_milestone[:2]
    trial.save(tmp_path)
    perturbed = begun({"training.optimizer.lr": 0.05})
    perturbed.load(tmp_path)
    assert reports_of(perturbed) == with_milestone[2:]
    assert with_milestone != reports_of(begun({}))


def test_the_batch_size_after_a_restore_is_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    step = SoloLearner.step

    def noted(self: SoloLearner, batches: Any, lr: float) -> torch.Tensor:
        sizes.append(len(batches[0].labels))
        return step(self, batches, lr)

    monkeypatch.setattr(SoloLearner, "step", noted)
    trial = begun({})
    trial.step()
    trial.save(tmp_path)
    perturbed = begun({"training.batch_size": 60})
    perturbed.load(tmp_path)
    assert perturbed.step()["epoch"] == 2
    assert sizes == [40, 40, 16, 60, 36]


CHANGES_NOTHING = {("logit_adjustment", "tau")}  # where classes are equally frequent
TELLING = {  # where half the default is no legal value, or none that six classes can tell from it
    ("differentiable_topk", "m"): 3,
    ("constrained_cardinality", "max_size"): 2,
    ("cost_sensitive_cardinality", "max_size"): 2,
    ("conftr", "alpha"): 0.5,
    ("role", "label_momentum"): 0.5,
}


@pytest.mark.parametrize(
    ("loss", "hyperparameter"),
    [
        (loss, name)
        for loss, row in LOSSES.items()
        for name in row.hyperparameters
        if (loss, name) not in CHANGES_NOTHING
    ],
)
def test_a_hyperparameter_of_the_loss_after_a_restore_is_the_new_one(
    loss: str, hyperparameter: str, tmp_path: Path
) -> None:
    values: dict[str, Any] = {"loss.name": loss, "k": 3, "training.epochs": 4}
    trial = begun(values)
    trial.step()
    trial.save(tmp_path)
    telling = TELLING.get((loss, hyperparameter))
    other = {f"loss.{hyperparameter}": telling or _another(LOSSES[loss].hyperparameters[hyperparameter])}
    perturbed = begun(values | other)
    perturbed.load(tmp_path)
    assert reports_of(perturbed)[-1]["train/loss"] != reports_of(trial)[-1]["train/loss"]


def _another(row: Hyperparameter) -> Any:
    """A legal value that is not the default."""
    if isinstance(row.default, bool):
        return not row.default
    [(kind, candidates)] = (row.search or {"choice": (row.default / 2,)}).items()
    return next(value for value in candidates if value != row.default and kind)


def test_the_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    begun({}).save(tmp_path)
    with pytest.raises(ConfigError, match=r"^model\.hidden must be 8, as in the checkpoint, got 9\.$"):
        begun({"model.hidden": 9}).load(tmp_path)


def test_the_checkpoint_of_another_kind_of_device_is_refused(tmp_path: Path) -> None:
    begun({}).save(tmp_path)
    state = torch.load(tmp_path / "run.pt", weights_only=True)
    torch.save({**state, "device": "cuda"}, tmp_path / "run.pt")
    with pytest.raises(ConfigError, match=r"^training\.device must be cuda, as in the checkpoint, got 'cpu'\.$"):
        begun({"training.device": "cpu"}).load(tmp_path)


@pytest.mark.parametrize(
    "values",
    [
        {"training.epochs": 7, "training.milestones": [4], "training.gamma": 0.5, "training.warmup_epochs": 2},
        {"training.optimizer": {"momentum": 0.0, "weight_decay": 0.1}},
        {"training.optimizer": {"nesterov": True}, "training.clip_norm": 1.0, "training.patience": 4},
        {"training.batch_size": "full", "training.reference_batch_size": 40, "training.evaluate_every": 2},
        {"training.augment": {"mixup": 0.5}, "training.precision": "bfloat16"},
    ],
)
def test_what_only_steers_the_training_may_change_at_a_restore(values: dict[str, Any], tmp_path: Path) -> None:
    trial = begun({})
    trial.step()
    trial.save(tmp_path)
    perturbed = begun(values)
    perturbed.load(tmp_path)
    assert reports_of(perturbed)[-1] != reports_of(trial)[-1]


def test_a_folder_without_a_checkpoint_of_this_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^checkpoint must be one of this version of setsweep, got '.*run\.pt'\.$"):
        begun({}).load(tmp_path)


@pytest.mark.parametrize("values", [UNSTABLE, UNSTABLE | {"loss.name": "avgk", "loss.k": 2}])
def test_a_diverged_run_ends_with_the_worst_there_is_and_without_nan(values: dict[str, Any]) -> None:
    reports = reports_of(begun(values))
    last = reports[-1]
    assert (last["status"], last["done"]) == ("diverged", True)
    assert last["reason"].startswith("training loss must be finite, got ")
    assert last["epoch"] == len(reports) < 20
    assert last["train/loss"] == math.inf
    assert len(reports) > 1  # so that there are metrics before
    for name in reports[0].keys() - {"epoch", "done", "status", "train/loss", "val/classes_present"}:
        assert math.isfinite(reports[0][name])
        assert last[name] == 0


def test_a_run_that_diverges_at_once_has_every_metric_that_others_have() -> None:
    optimizer = {"lr": 1e38, "weight_decay": 1e3, "momentum": 0.0}
    (report,) = reports_of(
        begun({"training": {"epochs": 1, "batch_size": "full", "optimizer": optimizer}, "data": {"per_class": 30}})
    )
    assert report["reason"] == "weights must be finite, got inf or nan in epoch 1."
    assert reports_of(begun({}))[-1].keys() - report.keys() == {"val/classes_present"}


def test_values_may_be_nested_and_of_numpy() -> None:
    paths = {"training.optimizer.lr": 0.25, "training.batch_size": 48, "model.hidden": 6, "seed": 1}
    nested = {
        "training": {"optimizer": {"lr": np.float64(0.25)}, "batch_size": np.int64(48)},
        "model": {"name": "mlp", "hidden": np.int32(6)},
        "seed": np.int64(1),
    }
    assert reports_of(begun(nested)) == reports_of(begun(paths))


def test_the_base_is_left_as_it_is() -> None:
    before = copy.deepcopy(BASE)
    begun({"training.optimizer.lr": 0.1, "test": True})
    assert before == BASE


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        ({"training.optimizer.lr": -1}, ["training.optimizer.lr must be > 0, got -1."]),
        ({"k.size": 2}, ["k must be a mapping, got [1, 2]."]),
        (
            {"training.optimiser.lr": 1, "seed": -1},
            [
                "training.optimiser: unknown setting 'optimiser'. Did you mean 'optimizer.lr'? Known: ",
                "seed must be between 0 and 9223372036854775807, got -1.",
            ],
        ),
    ],
)
def test_illegal_values_are_refused(values: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        begun(values)
    told = str(caught.value).splitlines()
    assert len(told) == len(messages)
    for line, message in zip(told, messages, strict=True):
        assert line.startswith(message)


def test_shared_data_are_loaded_once_as_long_as_they_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []

    def noted(settings: Mapping[str, Any], **where: Any) -> Any:
        loaded.append(settings["split_seed"])
        return load_base(settings, **where)

    monkeypatch.setattr(setsweep.trainables.trial, "load_base", noted)
    trial = Trial(BASE | {"data": {"name": "digits"}}, None)
    for values in ({}, {"seed": 1}, {"data.label_noise": 0.2}, {"data.split_seed": 1}, {"data.split_seed": 1}, {}):
        trial.begin(MLP | values)
    assert loaded == [0, 1, 0]
