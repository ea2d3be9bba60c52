"""What one training does with its data, its seed, its epochs and its losses."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.arrays import from_arrays, to_arrays
from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset, Split
from setsweep.losses import LOSSES
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metrics import evaluate
from setsweep.trainables.loop import train
from setsweep.trainables.models.classifier import build_model

COSINE = [name for name, declaration in LOSSES.items() if declaration.head == "cosine"]


class Untouchable:
    """A split that fails the test at the first look."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the test split was asked for its {name}")

    def __len__(self) -> int:
        raise AssertionError("the test split was asked for its length")


@pytest.mark.parametrize("loss", ["cross_entropy", "avgk", "noised_topk_hinge", "role"])
def test_the_same_configuration_gives_the_same_result(loss: str, make_config: Any, outcome: Any) -> None:
    config = make_config(loss={"name": loss}, k=2)
    assert outcome(train(config)) == outcome(train(config))


def test_the_state_of_the_global_generator_decides_nothing_and_stays_as_it_is(make_config: Any, outcome: Any) -> None:
    config = make_config(loss={"name": "noised_topk_hinge"}, k=2)
    torch.manual_seed(1)
    first = outcome(train(config))
    torch.manual_seed(2)
    before = torch.get_rng_state()
    assert outcome(train(config)) == first
    assert torch.equal(torch.get_rng_state(), before)


def test_another_seed_gives_another_initialisation_and_another_order_of_the_same_data(
    make_config: Any, digits: Dataset
) -> None:
    config = make_config(data={"name": "digits"}, training={"epochs": 1})
    losses = [train(dataclasses.replace(config, seed=seed), dataset=digits).metrics["train/loss"] for seed in (0, 1)]
    assert losses[0] != losses[1]


def test_each_epoch_visits_each_example_once_in_a_new_order(make_config: Any, digits: Dataset) -> None:
    config = make_config(data={"name": "digits"}, training={"epochs": 3, "batch_size": 7})
    visited: list[list[int]] = []

    class Recorded(torch.Tensor):
        def index_select(self, dim: int, indices: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            visited.append(indices.tolist())
            return self.as_subclass(torch.Tensor).index_select(dim, indices)

    labels = digits.train.labels.as_subclass(Recorded)
    train(config, dataset=dataclasses.replace(digits, train=dataclasses.replace(digits.train, labels=labels)))
    steps = math.ceil(90 / 7)
    assert [len(batch) for batch in visited] == ([7] * (steps - 1) + [90 - 7 * (steps - 1)]) * 3
    epochs = [list(itertools.chain(*visited[start : start + steps])) for start in range(0, 3 * steps, steps)]
    assert all(sorted(epoch) == list(range(90)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_the_loss_reported_is_the_mean_over_the_examples_of_the_epoch(make_config: Any) -> None:
    # steps too small to move a float32 weight by more than 1e-6: the loss stays what it was at the start
    config = make_config(training={"epochs": 1, "optimizer": {"lr": 1e-7}})
    full = make_config(training={"epochs": 1, "batch_size": "full", "optimizer": {"lr": 1e-7}})
    assert train(config).metrics["train/loss"] == pytest.approx(train(full).metrics["train/loss"], abs=1e-5)


def test_a_full_batch_is_a_batch_of_all_examples(make_config: Any) -> None:
    # 30 epochs in float32; the order of the sums differs
    full = train(make_config(training={"epochs": 30, "batch_size": "full"}))
    mini = train(make_config(training={"epochs": 30, "batch_size": 96}))
    assert full.curves["train/loss"] == pytest.approx(mini.curves["train/loss"], abs=1e-5)


def test_a_batch_larger_than_the_data_is_refused(make_config: Any) -> None:
    message = "training.batch_size must be <= the number of training examples = 96, got 97."
    with pytest.raises(ValueError, match=message):
        train(make_config(training={"batch_size": 97}))
    assert train(make_config(training={"batch_size": 96})).status == "done"


def test_every_nth_epoch_and_the_last_are_evaluated(make_config: Any) -> None:
    seen: list[int] = []
    config = make_config(training={"epochs": 7, "evaluate_every": 3})
    result = train(config, on_epoch=lambda epoch, metrics: seen.append(epoch))
    assert result.epochs == (3, 6, 7) == tuple(seen)
    assert {len(values) for values in result.curves.values()} == {3}
    every = train(make_config(training={"epochs": 7}))
    for name, values in result.curves.items():
        assert values == tuple(every.curves[name][epoch - 1] for epoch in (3, 6, 7))


def test_the_report_of_an_epoch_is_what_the_curves_hold(make_config: Any) -> None:
    reports: list[dict[str, float]] = []
    result = train(make_config(), on_epoch=lambda epoch, metrics: reports.append(dict(metrics)))
    assert {name: tuple(report[name] for report in reports) for name in reports[0]} == result.curves


@pytest.mark.parametrize("keep", ["best", "last"])
def test_without_test_the_test_split_is_never_touched(keep: str, make_config: Any, outcome: Any) -> None:
    config = make_config(test=False, training={"keep": keep})
    dataset = load_dataset(config.data, seed=config.seed)
    result = train(config, dataset=dataclasses.replace(dataset, test=Untouchable()))  # type: ignore[arg-type]
    assert result.status == "done"
    assert not [name for name in result.metrics if name.startswith("test/")]
    tested = train(dataclasses.replace(config, test=True), dataset=dataset)
    without = {name: value for name, value in tested.metrics.items() if not name.startswith("test/")}
    assert (result.metrics, result.thresholds, result.curves) == (without, tested.thresholds, tested.curves)
    assert {name.replace("val/", "test/") for name in without if name.startswith("val/")} < tested.metrics.keys()


@pytest.mark.parametrize("keep", ["best", "last"])
def test_every_metric_is_that_of_the_best_epoch_of_its_own(keep: str, make_config: Any) -> None:
    # brute force: as many runs as epochs, of which each ends at the epoch it stands for
    settings = {"epochs": 12, "batch_size": 8}
    result = train(make_config(training={**settings, "keep": keep}, k=[1, 2, 3], seed=0))
    ending = [
        train(make_config(training={**settings, "keep": "last", "epochs": epoch}, k=[1, 2, 3], seed=0))
        for epoch in range(1, 13)
    ]
    criteria = [name.removeprefix("val/") for name in result.curves if name.endswith("_accuracy")]
    assert sorted(criteria) == sorted(result.best_epoch)
    assert len(criteria) == 12
    for criterion in criteria:
        values = [run.metrics[f"val/{criterion}"] for run in ending]
        best = values.index(max(values)) if keep == "best" else 11
        assert result.best_epoch[criterion] == best + 1
        for name in (criterion, criterion.replace("_accuracy", "_set_size")):
            for split in ("val", "test"):
                assert result.metrics.get(f"{split}/{name}") == ending[best].metrics.get(f"{split}/{name}")
        if criterion in ("avg1_accuracy", "avg2_accuracy", "avg3_accuracy"):
            assert result.thresholds[criterion[3]] == ending[best].thresholds[criterion[3]]
            assert f"test/{criterion.replace('accuracy', 'set_size')}" in result.metrics
    distinct = len(set(result.best_epoch.values()))
    assert distinct >= 3 if keep == "best" else distinct == 1  # else this test would show little
    assert result.metrics["train/loss"] == ending[-1].metrics["train/loss"]
    assert result.metrics["val/classes_present"] == result.metrics["test/classes_present"] == 6


@pytest.mark.parametrize("loss", LOSSES)
def test_a_run_whose_loss_is_not_finite_has_diverged(loss: str, make_config: Any) -> None:
    # each step multiplies the weights by about -1e4 whatever the loss: float32 overflows in the tenth
    config = make_config(loss={"name": loss}, k=2, training={"epochs": 20, "optimizer": {"lr": 1e4, "weight_decay": 1}})
    result = train(config)
    assert result.status == "diverged"
    assert result.reason is not None
    told, epoch = result.reason.rstrip(".").split(" in epoch ")
    assert told.startswith(("training loss must be finite, got inf", "training loss must be finite, got nan"))
    assert int(epoch) == len(result.epochs) + 1 < 20
    assert result.metrics == result.best_epoch == result.thresholds == {}
    assert all(math.isfinite(value) for value in result.curves.get("train/loss", ()))
    json.dumps(result.to_dict()["curves"], allow_nan=False)


def test_a_last_step_that_spoils_the_weights_is_a_divergence_too(make_config: Any) -> None:
    optimizer = {"lr": 1e38, "weight_decay": 1e3}
    config = make_config(training={"epochs": 1, "batch_size": "full", "optimizer": optimizer})
    result = train(config)
    assert (result.status, result.reason) == ("diverged", "weights must be finite, got inf or nan in epoch 1.")
    assert result.metrics == {}


@pytest.mark.parametrize("loss", COSINE)
def test_a_loss_on_cosines_survives_any_learning_rate(loss: str, make_config: Any) -> None:
    result = train(make_config(loss={"name": loss}, k=2, training={"optimizer": {"lr": 1e9}}))
    assert result.status == "done"


def test_a_diverged_run_keeps_no_model_and_no_checkpoint(make_config: Any, tmp_path: Path) -> None:
    config = make_config(training={"epochs": 20, "optimizer": {"lr": 1e4, "weight_decay": 1}})
    keep = KeepModel(folder=tmp_path / "model", criterion="top2_accuracy")
    result = train(config, keep_model=keep, checkpoint=tmp_path / "checkpoint", checkpoint_seconds=0)
    assert result.status == "diverged"
    assert list(tmp_path.iterdir()) == []


def test_a_diverged_run_is_not_tested(make_config: Any) -> None:
    config = make_config(training={"epochs": 20, "optimizer": {"lr": 1e4, "weight_decay": 1}})
    dataset = load_dataset(config.data, seed=config.seed)
    unusable = Split(dataset.test.inputs, dataset.test.labels + dataset.num_classes)
    result = train(config, dataset=dataclasses.replace(dataset, test=unusable))
    assert result.status == "diverged"
    assert result.epochs  # so that there is a model that could be tested


@pytest.mark.parametrize("model", ["linear", "mlp", "small_cnn"])
@pytest.mark.parametrize("data", ["circle", "digits"])
def test_data_in_read_only_memory_is_only_read(
    model: str, data: str, make_config: Any, outcome: Any, digits: Dataset
) -> None:
    if (model, data) == ("small_cnn", "circle"):
        pytest.skip("an image model")
    config = make_config(data={"name": data}, model={"name": model}, training={"epochs": 2})
    dataset = load_dataset(config.data, seed=config.seed) if data == "circle" else digits
    arrays = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in to_arrays(dataset).items()
    }
    for value in arrays.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    before = {name: value.copy() for name, value in arrays.items() if isinstance(value, np.ndarray)}
    result = train(config, dataset=from_arrays(arrays))
    assert outcome(result) == outcome(train(config, dataset=dataset))
    assert all(np.array_equal(arrays[name], value) for name, value in before.items())


def test_memory_that_cannot_be_written_to_at_all_is_enough(make_config: Any, digits: Dataset, tmp_path: Path) -> None:
    def mapped(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        array.tofile(tmp_path / "array")
        with (tmp_path / "array").open("rb") as file:
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # a write would end the process
        (tmp_path / "array").unlink()
        return np.frombuffer(pages, dtype=array.dtype).reshape(array.shape)

    arrays = to_arrays(digits)
    arrays |= {name: mapped(value) for name, value in arrays.items() if isinstance(value, np.ndarray)}
    config = make_config(data={"name": "digits"}, model={"name": "small_cnn", "width": 4}, training={"epochs": 1})
    assert train(config, dataset=from_arrays(arrays)).status == "done"


@pytest.mark.parametrize(
    ("loss", "head", "criterion"),
    [
        ("cross_entropy", "ml", "top1_accuracy"),
        ("cross_entropy", "ml", "macro_avg2_accuracy"),
        ("avgk", "ml", "avg2_accuracy"),
        ("avgk", "sccp", "avg2_accuracy"),
    ],
)
def test_the_saved_model_gives_the_metrics_reported(
    loss: str, head: str, criterion: str, make_config: Any, digits: Dataset, tmp_path: Path
) -> None:
    config = make_config(
        data={"name": "digits"},
        model={"name": "small_cnn", "width": 4},
        loss={"name": loss},
        training={"head": head, "epochs": 6},
    )
    result = train(config, dataset=digits, keep_model=KeepModel(folder=tmp_path, criterion=criterion))
    saved = torch.load(tmp_path / "model.pt", weights_only=True)
    again = RunConfig.from_dict(saved["config"])
    assert again.key == config.key
    model = build_model(
        again.model,
        head=LOSSES[again.loss["name"]].head,
        input_shape=tuple(saved["input_shape"]),
        num_classes=saved["num_classes"],
        seed=0,
    ).eval()
    model.load_state_dict(saved["state"])
    for split in ("val", "test"):
        part = getattr(digits, split)
        with torch.no_grad():
            scores = model(normalise(part.inputs, saved["mean"], saved["std"]))
        if isinstance(scores, tuple):
            scores = scores[("ml", "sccp").index(head)]
        measured = evaluate(
            [(scores, part.labels)],
            num_classes=10,
            ks=again.k,
            probabilities=saved["probabilities"],
            scale=saved["scale"],
            thresholds={int(k): threshold for k, threshold in saved["thresholds"].items()},
        )
        assert measured.metrics[criterion] == result.metrics[f"{split}/{criterion}"]
    assert saved["probabilities"] == ("sigmoid" if (loss, head) == ("avgk", "ml") else "softmax")


def test_a_model_to_keep_by_an_accuracy_that_is_not_measured_is_refused_before_the_training(
    make_config: Any, tmp_path: Path
) -> None:
    def fail(epoch: int, metrics: object) -> None:
        raise AssertionError(epoch, metrics)

    with pytest.raises(ValueError, match=r"keep_model.criterion must be one of top1_accuracy, .*, got 'top5_accuracy'"):
        train(make_config(), keep_model=KeepModel(folder=tmp_path, criterion="top5_accuracy"), on_epoch=fail)


def test_a_model_kept_from_a_search_is_that_of_the_best_epoch(make_config: Any, tmp_path: Path) -> None:
    keep = [KeepModel(folder=tmp_path / name, criterion="top2_accuracy") for name in ("search", "confirm")]
    train(make_config(test=False), keep_model=keep[0])
    train(make_config(), keep_model=keep[1])
    weights, others = (torch.load(each.folder / "model.pt", weights_only=True)["state"] for each in keep)
    assert all(torch.equal(weights[name], others[name]) for name in weights)


def test_the_estimated_labels_of_role_learn_at_their_own_rate(make_config: Any, tmp_path: Path) -> None:
    def estimates_after_one_step(factor: float) -> torch.Tensor:
        def stop(epoch: int, metrics: object) -> None:
            raise InterruptedError(epoch, metrics)

        checkpoint = tmp_path / str(factor)
        config = make_config(
            loss={"name": "role", "label_lr_factor": factor}, k=2, training={"batch_size": "full", "epochs": 1}
        )
        with pytest.raises(InterruptedError):
            train(config, checkpoint=checkpoint, checkpoint_seconds=0, on_epoch=stop)
        estimates: torch.Tensor = torch.load(checkpoint, weights_only=True)["learner"]["loss"]["estimates"].double()
        return estimates

    start, once, twice = (estimates_after_one_step(factor) for factor in (1e-30, 1e4, 2e4))
    assert (once - start).abs().min() > 0
    # plain gradient descent is proportional to its rate; the estimates are float32 and of the size of 5
    assert torch.allclose(twice - start, 2 * (once - start), atol=5e-6)


def test_label_noise_and_data_come_from_the_seed_alone(make_config: Any, outcome: Any) -> None:
    config = make_config(data={"name": "circle", "per_class": 16, "label_noise": 0.2})
    dataset = load_dataset(config.data, seed=config.seed)
    assert outcome(train(config)) == outcome(train(config, dataset=dataset))


def test_thresholds_on_scores_as_the_configuration_says(make_config: Any) -> None:
    sigmoid = train(make_config(training={"threshold_scores": "sigmoid"}))
    softmax = train(make_config())
    assert sigmoid.curves["val/top2_accuracy"] == softmax.curves["val/top2_accuracy"]
    assert sigmoid.thresholds != softmax.thresholds


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without CUDA")
def test_cuda_on_a_machine_without_it_is_refused(make_config: Any) -> None:
    with pytest.raises(ValueError, match=r"training.device must be a device that is there, got 'cuda'"):
        train(make_config(training={"device": "cuda"}))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("loss", ["cross_entropy", "avgk", "noised_topk_hinge", "role"])
def test_the_gpu_gives_what_the_cpu_gives(loss: str, make_config: Any, digits: Dataset, tmp_path: Path) -> None:
    # float32 sums in another order; noise comes from another generator, so that only its run is checked
    results = [
        train(
            make_config(
                data={"name": "digits"},
                model={"name": "small_cnn", "width": 8},
                loss={"name": loss},
                k=2,
                training={"device": device},
            ),
            dataset=digits,
            checkpoint=tmp_path / "checkpoint",
            checkpoint_seconds=0,
            keep_model=KeepModel(folder=tmp_path, criterion="top2_accuracy"),
        )
        for device in ("cpu", "cuda")
    ]
    assert [result.status for result in results] == ["done", "done"]
    if loss in ("cross_entropy", "avgk"):
        cpu, cuda = (result.curves["train/loss"] for result in results)
        assert cuda == pytest.approx(cpu, rel=0.02)


@pytest.mark.parametrize("patience", [1, 3])
def test_training_stops_where_patience_is_at_its_end_and_reports_what_it_had_found(
    patience: int, make_config: Any, tmp_path: Path
) -> None:
    settings = {"epochs": 40, "evaluate_every": 2, "batch_size": 8}
    whole = train(make_config(training=settings))
    values = [whole.curves[f"val/{criterion}"] for criterion in whole.best_epoch]
    best = [curve.index(max(curve[: end + 1])) for end in range(20) for curve in values]
    last = [max(best[len(values) * end : len(values) * (end + 1)]) for end in range(20)]  # the newest best, at each end
    stop = next(end for end in range(20) if end - last[end] >= patience)
    keep = KeepModel(folder=tmp_path, criterion="top2_accuracy")
    stopped = train(make_config(training=settings | {"patience": patience}), keep_model=keep)
    assert (stopped.status, stopped.stopped, whole.stopped) == ("done", 2 * (stop + 1), None)
    assert stopped.epochs == whole.epochs[: stop + 1]
    assert stopped.curves == {name: curve[: stop + 1] for name, curve in whole.curves.items()}
    for criterion, curve in zip(whole.best_epoch, values, strict=True):
        assert stopped.metrics[f"val/{criterion}"] == max(curve[: stop + 1])
        assert f"test/{criterion}" in stopped.metrics
    assert (tmp_path / "model.pt").exists()


def test_patience_that_lasts_changes_nothing(make_config: Any, outcome: Any) -> None:
    patient, plain = (train(make_config(training={"patience": patience})) for patience in (4, None))
    assert {**outcome(patient), "key": None} == {**outcome(plain), "key": None}


@pytest.mark.parametrize(
    "training", [{"ema": 0.5}, {"clip_norm": 0.01}, {"warmup_epochs": 2}, {"precision": "bfloat16"}]
)
def test_every_setting_changes_the_training_that_it_is_for(training: dict[str, Any], make_config: Any) -> None:
    plain, changed = (train(make_config(training=settings)) for settings in ({}, training))
    assert changed.status == "done"
    assert changed.curves != plain.curves
    assert (changed.curves["train/loss"] == plain.curves["train/loss"]) == ("ema" in training)


@pytest.mark.slow  # the compiler takes a minute to warm up
def test_a_compiled_model_learns_what_it_learns_uncompiled(make_config: Any, digits: Dataset, outcome: Any) -> None:
    settings = {"loss": {"name": "avgk"}, "data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}}
    plain, compiled = (
        train(make_config(**settings, training={"compile": each}), dataset=digits) for each in (False, True)
    )
    assert compiled.curves["train/loss"] == pytest.approx(plain.curves["train/loss"], rel=1e-3)  # sums in another order
    assert compiled.runtime["compiled"]
    again = train(make_config(**settings, training={"compile": True}), dataset=digits)
    assert outcome(again) == outcome(compiled)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize(
    ("training", "tolerance"),  # on the loss of each epoch: mantissas of 23, 10 and 8 bits
    [({}, 1e-3), ({"compile": True}, 1e-3), ({"precision": "tf32"}, 0.01), ({"precision": "bfloat16"}, 0.05)],
)
def test_the_gpu_learns_as_the_cpu_does_in_every_precision(
    training: dict[str, Any], tolerance: float, make_config: Any, digits: Dataset
) -> None:
    settings = {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 8}}
    cpu, cuda = (
        train(make_config(**settings, training={"optimizer": {"lr": 0.05}, "device": device, **each}), dataset=digits)
        for device, each in (("cpu", {}), ("cuda", training))
    )
    assert cuda.curves["train/loss"] == pytest.approx(cpu.curves["train/loss"], rel=tolerance)
    assert cuda.runtime["device"] == torch.cuda.get_device_name()
    assert cuda.runtime["peak_mib"] >= 1


def test_a_result_survives_json(make_config: Any) -> None:
    result = train(make_config())
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False))) == result
