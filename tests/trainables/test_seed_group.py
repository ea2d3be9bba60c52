"""A seed group in training: the results of its seeds, whatever becomes of one of them and wherever it is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import setsweep.trainables.checkpoint
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.run_config import KeepModel
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import train, train_seeds

RESUMED: dict[str, dict[str, Any]] = {
    "stacked": {
        "model": {"name": "mlp", "hidden": 8},
        "training": {"optimizer": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}},
    },
    "stacked with everything": {
        "loss": {"name": "avgk"},
        "k": 2,
        "training": {"optimizer": {"name": "adamw", "lr": 0.01, "weight_decay": 0.1}, "ema": 0.9, "clip_norm": 1.0},
    },
    "noise": {"loss": {"name": "noised_topk_hinge"}, "k": 2},
    "estimated labels": {"loss": {"name": "role"}, "k": 2},
    "batch normalisation": {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}},
    "round robin, with dropout": {"model": {"name": "own_models:with_dropout"}},
}


@pytest.mark.parametrize("loss", ["cross_entropy", "avgk", "role"])
def test_results_agree_with_those_of_each_seed_alone(loss: str, seed_group: Any) -> None:
    configs, datasets = seed_group(3, loss={"name": loss}, k=[2])
    for result, config, dataset in zip(train_seeds(configs, datasets=datasets), configs, datasets, strict=True):
        alone = train(config, dataset=dataset)
        assert (result.key, result.status, result.best_epoch) == (alone.key, "done", alone.best_epoch)
        assert result.metrics == pytest.approx(alone.metrics, rel=1e-4)
        assert result.thresholds == pytest.approx(alone.thresholds, rel=1e-4)
        assert (result.runtime["seeds"], alone.runtime["seeds"]) == (3, 1)


@pytest.mark.parametrize("name", ["with_dropout", "branching"])
@pytest.mark.usefixtures("own_models")
def test_in_turns_each_seed_has_its_own_result_to_the_last_bit(name: str, seed_group: Any, outcome: Any) -> None:
    configs, datasets = seed_group(3, model={"name": f"own_models:{name}"})
    for result, config, dataset in zip(train_seeds(configs, datasets=datasets), configs, datasets, strict=True):
        assert outcome(result) == outcome(train(config, dataset=dataset))


def test_epochs_are_reported_of_each_seed(seed_group: Any) -> None:
    configs, datasets = seed_group(2, training={"epochs": 2})
    reports: list[tuple[int, int, float]] = []
    results = train_seeds(
        configs,
        datasets=datasets,
        on_epoch=lambda seed, epoch, metrics: reports.append((seed, epoch, metrics["train/loss"])),
    )
    expected = [(result.curves["train/loss"], config.seed) for result, config in zip(results, configs, strict=True)]
    assert reports == [(seed, epoch, losses[epoch - 1]) for epoch in (1, 2) for losses, seed in expected]


def test_the_time_is_shared_among_the_seeds(seed_group: Any) -> None:
    configs, datasets = seed_group(3)
    results = train_seeds(configs, datasets=datasets)
    (seconds,) = {result.seconds for result in results}
    assert 0 < 3 * seconds <= results[0].finished - results[0].started


def test_a_diverged_seed_is_told_and_the_others_have_their_results(seed_group: Any, tmp_path: Path) -> None:
    configs, datasets = seed_group(3)
    datasets[1].train.inputs[0, 0] = torch.inf
    kept = [KeepModel(folder=tmp_path / str(seed), criterion="top2_accuracy") for seed in range(3)]
    results = train_seeds(configs, datasets=datasets, keep_models=kept)
    assert [result.status for result in results] == ["done", "diverged", "done"]
    assert results[2].metrics == pytest.approx(train(configs[2], dataset=datasets[2]).metrics, rel=1e-4)
    assert sorted(folder.name for folder in tmp_path.iterdir() if folder.is_dir()) == ["0", "2"]


class StoppedError(Exception):
    """What stops training in these tests."""


@pytest.fixture
def stop_at_each_checkpoint(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it: from then on every run stops right after its first checkpoint."""

    def save(state: dict[str, Any], path: Path) -> None:
        save_checkpoint(state, path)
        if path.name == "checkpoint":
            raise StoppedError

    return lambda: monkeypatch.setattr(setsweep.trainables.checkpoint, "save_checkpoint", save)


@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.usefixtures("own_models")
def test_a_group_stopped_after_each_step_ends_as_an_uninterrupted_one(
    name: str, seed_group: Any, outcome: Any, same_weights: Any, tmp_path: Path, stop_at_each_checkpoint: Any
) -> None:
    configs, datasets = seed_group(3, **RESUMED[name])

    def run(folder: Path, checkpoint: Path | None = None) -> list[RunResult]:
        kept = [KeepModel(folder=folder / str(each.seed), criterion="avg2_accuracy") for each in configs]
        return train_seeds(configs, datasets=datasets, checkpoint=checkpoint, checkpoint_seconds=0, keep_models=kept)

    whole = run(tmp_path / "whole")
    stop_at_each_checkpoint()
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
    seeds = [str(each.seed) for each in configs]
    assert all(same_weights(tmp_path / "whole" / seed, tmp_path / "stopped" / seed) for seed in seeds)


def test_the_checkpoint_of_other_seeds_is_not_resumed_from(seed_group: Any, outcome: Any, tmp_path: Path) -> None:
    configs, datasets = seed_group(3)
    checkpoint = tmp_path / "checkpoint"

    def stop(seed: int, epoch: int, metrics: object) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        train_seeds(configs[:2], datasets=datasets[:2], checkpoint=checkpoint, checkpoint_seconds=0, on_epoch=stop)
    assert checkpoint.exists()
    results = train_seeds(configs[::2], datasets=datasets[::2], checkpoint=checkpoint)
    assert list(map(outcome, results)) == list(map(outcome, train_seeds(configs[::2], datasets=datasets[::2])))


@pytest.mark.parametrize("model", [{"name": "linear"}, {"name": "own_models:with_dropout"}])
@pytest.mark.usefixtures("own_models")
def test_seeds_that_are_behind_together_are_stopped_together(
    model: dict[str, Any], seed_group: Any, outcome: Any
) -> None:
    configs, datasets = seed_group(2, model=model)
    whole = train_seeds(configs, datasets=datasets)
    means = [sum(values) / 2 for values in zip(*(_so_far(result) for result in whole), strict=True)]
    for bound, last in ((means[1] + 1e-9, 2), (means[1], None)):  # no mean is below itself
        stopping = {"metric": "val/top1_accuracy", "seeds": [each.seed for each in configs], "below": [[2, bound]]}
        bounded, _ = seed_group(2, model=model, stopping=stopping)
        found = train_seeds(bounded, datasets=datasets)
        assert [result.pruned for result in found] == [last, last]
        for result, before in zip(found, whole, strict=True):
            assert result.status == "done"
            assert result.epochs == before.epochs[:last]
            assert result.curves["val/top1_accuracy"] == before.curves["val/top1_accuracy"][:last]
            assert result.metrics["val/top1_accuracy"] == max(result.curves["val/top1_accuracy"])
            assert RunResult.from_dict(result.to_dict()) == result
            assert ("pruned" in result.to_dict()) == (last is not None)


def _so_far(result: RunResult) -> list[float]:
    return [max(result.curves["val/top1_accuracy"][:end]) for end in range(1, len(result.epochs) + 1)]


def test_seeds_apart_and_the_last_epoch_are_never_stopped(seed_group: Any) -> None:
    (first, _), datasets = seed_group(2)
    for seeds, epoch in (([first.seed, 99], 2), ([first.seed], 4)):
        stopping = {"metric": "val/top1_accuracy", "seeds": seeds, "below": [[epoch, 2.0]]}
        (config, _), _ = seed_group(2, stopping=stopping)
        (result,) = train_seeds([config], datasets=datasets[:1])
        assert (result.pruned, result.epochs) == (None, (1, 2, 3, 4))
