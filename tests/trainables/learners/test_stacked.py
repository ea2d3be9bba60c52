"""Seeds side by side give what each of them gives by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import setsweep.trainables.checkpoint
from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.losses import LOSSES
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.learners.learner import Learner, SoloLearner
from setsweep.trainables.learners.parts import training_feed
from setsweep.trainables.learners.round_robin import LockstepLearner
from setsweep.trainables.learners.stackable import why_not_stackable
from setsweep.trainables.learners.stacked import StackedLearner
from setsweep.trainables.loop import train, train_seeds
from setsweep.trainables.probes.seeds_at_once import build_learner

CPU = torch.device("cpu")
SEEDS = (3, 5, 8)
IMAGES = {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}}
MODELS: dict[str, dict[str, Any]] = {
    "linear": {},
    "mlp": {"model": {"name": "mlp", "hidden": 8}},
    "small_cnn": IMAGES,
}
TRAININGS: dict[str, dict[str, Any]] = {
    "sgd": {"optimizer": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}},
    "adamw": {"optimizer": {"name": "adamw", "lr": 0.01, "weight_decay": 0.1}},
    "clipped gradients": {"clip_norm": 0.1},
    "averaged weights": {"ema": 0.9},
    "mixed examples": {"augment": {"mixup": 1}},
    "full batch": {"batch_size": "full"},
}
OWN_MODELS = """
from math import prod
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
"""


@pytest.fixture
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the module `side_models` importable."""
    (tmp_path / "side_models.py").write_text(OWN_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "side_models", raising=False)


@pytest.fixture
def data_of(digits: Dataset) -> Callable[[RunConfig], Dataset]:
    return lambda config: digits if config.data["name"] == "digits" else load_dataset(config.data, seed=config.seed)


def _steps(learner: Learner, configs: Sequence[RunConfig], datasets: Sequence[Dataset], number: int) -> torch.Tensor:
    """Train; (steps, seeds) the losses."""
    feeds = [training_feed(config, dataset, CPU) for config, dataset in zip(configs, datasets, strict=True)]
    lr, losses = configs[0].training.optimizer.lr, list[torch.Tensor]()
    while len(losses) < number:
        losses += [learner.step(batches, lr) for batches in zip(*(feed.epoch() for feed in feeds), strict=True)]
    return torch.stack(losses)


def _check_agreement(configs: Sequence[RunConfig], datasets: Sequence[Dataset], steps: int = 10) -> None:
    """Side by side and alone: losses to a relative 1e-4, weights to 1e-4 of the largest of their tensor."""
    together = build_learner(configs, datasets, CPU)
    assert isinstance(together, StackedLearner)
    losses = _steps(together, configs, datasets, steps)
    assert losses.isfinite().all()
    for seed, (config, dataset) in enumerate(zip(configs, datasets, strict=True)):
        alone = SoloLearner(config, dataset, CPU)
        torch.testing.assert_close(losses[:, [seed]], _steps(alone, [config], [dataset], steps), rtol=1e-4, atol=1e-6)
        weights, others = together.weights(seed), alone.weights(0)
        assert weights.keys() == others.keys()
        for name, values in others.items():
            scale = float(values.abs().max())
            torch.testing.assert_close(weights[name], values, rtol=0, atol=1e-4 * scale, msg=name)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_seeds_side_by_side_agree_with_each_alone(loss: str, model: str, make_config: Any, data_of: Any) -> None:
    configs = [
        make_config(seed=seed, loss={"name": loss}, k=2, training={"optimizer": {"lr": 0.1}}, **MODELS[model])
        for seed in SEEDS
    ]
    _check_agreement(configs, [data_of(config) for config in configs], 3 if model == "small_cnn" else 10)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("training", TRAININGS)
def test_they_agree_in_whatever_way_they_are_trained(training: str, model: str, make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=seed, training=TRAININGS[training], **MODELS[model]) for seed in SEEDS]
    _check_agreement(configs, [data_of(config) for config in configs], 3 if model == "small_cnn" else 10)


@pytest.mark.parametrize("name", ["normed", "repeated", "tied"])
def test_a_model_of_ones_own_is_stacked_too(name: str, own_models: None, make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=seed, model={"name": f"side_models:{name}"}) for seed in SEEDS]
    _check_agreement(configs, [data_of(config) for config in configs])


@pytest.mark.parametrize("loss", ["cross_entropy", "avgk", "role"])
def test_results_agree_with_those_of_each_seed_alone(loss: str, make_config: Any) -> None:
    configs = [make_config(seed=seed, loss={"name": loss}, k=[2]) for seed in SEEDS]
    datasets = [load_dataset(config.data, seed=config.seed) for config in configs]
    for result, config, dataset in zip(train_seeds(configs, datasets=datasets), configs, datasets, strict=True):
        alone = train(config, dataset=dataset)
        assert (result.key, result.status, result.best_epoch) == (alone.key, "done", alone.best_epoch)
        assert result.metrics == pytest.approx(alone.metrics, rel=1e-4)
        assert result.thresholds == pytest.approx(alone.thresholds, rel=1e-4)


def test_in_bfloat16_scores_agree_to_its_precision(make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=seed, training={"precision": "bfloat16"}, **IMAGES) for seed in SEEDS]
    datasets = [data_of(config) for config in configs]
    inputs = datasets[0].val.inputs.float() / 16
    together = StackedLearner(configs, datasets, CPU).scores([inputs] * len(SEEDS))
    for scores, config, dataset in zip(together, configs, datasets, strict=True):
        (alone,) = SoloLearner(config, dataset, CPU).scores([inputs])
        assert scores.dtype == torch.float32
        torch.testing.assert_close(scores, alone, rtol=0, atol=0.02 * float(alone.detach().abs().max()))


def test_a_seed_that_diverges_leaves_the_others_alone(make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=seed, model={"name": "mlp", "hidden": 8}) for seed in SEEDS]
    datasets = [data_of(config) for config in configs]
    spoilt, sound = (StackedLearner(configs, datasets, CPU) for _ in range(2))
    weights = [spoilt.weights(seed) for seed in range(len(SEEDS))]
    weights[1]["head.weight"][0, 0] = torch.nan
    spoilt.load_weights(weights)
    losses, others = (_steps(learner, configs, datasets, 5) for learner in (spoilt, sound))
    assert losses[:, 1].isnan().all()
    assert torch.equal(losses[:, [0, 2]], others[:, [0, 2]])
    assert spoilt.finite() == [True, False, True]


def test_a_diverged_seed_is_told_and_the_others_have_their_results(make_config: Any) -> None:
    configs = [make_config(seed=seed) for seed in SEEDS]
    datasets = [load_dataset(config.data, seed=config.seed) for config in configs]
    datasets[1].train.inputs[0, 0] = torch.inf
    results = train_seeds(configs, datasets=datasets)
    assert [result.status for result in results] == ["done", "diverged", "done"]
    assert results[2].metrics == pytest.approx(train(configs[2], dataset=datasets[2]).metrics, rel=1e-4)


class StoppedError(Exception):
    """What stops training in these tests."""


@pytest.fixture
def stop_at_each_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def save(state: dict[str, Any], path: Path) -> None:
        save_checkpoint(state, path)
        if path.name == "checkpoint":
            raise StoppedError

    monkeypatch.setattr(setsweep.trainables.checkpoint, "save_checkpoint", save)


RESUMED: dict[str, dict[str, Any]] = {
    "stacked": {"model": {"name": "mlp", "hidden": 8}, "training": TRAININGS["sgd"]},
    "stacked with everything": {
        "loss": {"name": "avgk"},
        "k": 2,
        "training": TRAININGS["adamw"] | {"ema": 0.9, "clip_norm": 1.0},
    },
    "noise": {"loss": {"name": "noised_topk_hinge"}, "k": 2},
    "estimated labels": {"loss": {"name": "role"}, "k": 2},
    "batch normalisation": IMAGES,
    "in turns, with dropout": {"model": {"name": "side_models:with_dropout"}},
}


@pytest.mark.parametrize("name", RESUMED)
def test_seeds_stopped_after_each_step_end_as_uninterrupted_ones(
    name: str,
    own_models: None,
    make_config: Any,
    data_of: Any,
    outcome: Any,
    same_weights: Any,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    configs = [make_config(seed=seed, **RESUMED[name]) for seed in SEEDS]
    datasets = [data_of(config) for config in configs]

    def run(folder: Path, checkpoint: Path | None = None) -> list[RunResult]:
        kept = [KeepModel(folder=folder / str(seed), criterion="avg2_accuracy") for seed in SEEDS]
        return train_seeds(configs, datasets=datasets, checkpoint=checkpoint, checkpoint_seconds=0, keep_models=kept)

    whole = run(tmp_path / "whole")
    request.getfixturevalue("stop_at_each_checkpoint")
    stops = 0
    while True:
        try:
            results = run(tmp_path / "stopped", tmp_path / "checkpoint")
        except StoppedError:
            stops += 1
        else:
            break
    assert stops == 12
    assert list(map(outcome, results)) == list(map(outcome, whole))
    assert all(same_weights(tmp_path / "whole" / str(seed), tmp_path / "stopped" / str(seed)) for seed in SEEDS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": {"name": "side_models:with_dropout"}}, "randomness"),
        ({"model": {"name": "side_models:branching"}}, "does not run"),
        ({"training": {"compile": True}}, "training.compile"),
    ],
)
def test_what_can_not_be_stacked_has_its_reason(
    changes: dict[str, Any], reason: str, own_models: None, make_config: Any, data_of: Any
) -> None:
    config = make_config(**changes)
    assert reason in (why_not_stackable(config, data_of(config), CPU) or "")


@pytest.mark.parametrize("name", ["with_dropout", "branching"])
def test_in_turns_each_seed_has_its_own_result_to_the_last_bit(
    name: str, own_models: None, make_config: Any, data_of: Any, outcome: Any
) -> None:
    configs = [make_config(seed=seed, model={"name": f"side_models:{name}"}) for seed in SEEDS]
    datasets = [data_of(config) for config in configs]
    assert isinstance(build_learner(configs, datasets, CPU), LockstepLearner)
    told_apart = {"runtime"}
    for result, config, dataset in zip(train_seeds(configs, datasets=datasets), configs, datasets, strict=True):
        alone = outcome(train(config, dataset=dataset))
        assert {name: value for name, value in outcome(result).items() if name not in told_apart} == {
            name: value for name, value in alone.items() if name not in told_apart
        }


def test_configurations_that_differ_in_more_than_the_seed_are_refused(make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=1), make_config(seed=2, training={"epochs": 5})]
    with pytest.raises(ValueError, match=r"^configurations side by side must be equal but for the seed, got"):
        train_seeds(configs, datasets=[data_of(config) for config in configs])


def test_data_of_other_sizes_is_refused(make_config: Any, data_of: Any) -> None:
    configs = [make_config(seed=1), make_config(seed=2)]
    other = make_config(data={"name": "circle", "per_class": 17})
    with pytest.raises(ValueError, match=r"^data sets side by side must be of one size, got .*102"):
        train_seeds(configs, datasets=[data_of(configs[0]), data_of(other)])
