"""What is kept of a trained model, and the sets that it answers with."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.metrics import Evaluation
from setsweep.trainables.evaluation.predictor import BATCH, SetPredictor, predictor
from setsweep.trainables.loop import train


def test_a_predictor_has_all_that_sets_are_made_of_in_plain_data(
    make_config: Any, digits: Dataset, tmp_path: Path
) -> None:
    config = make_config(data={"name": "digits"}, loss={"name": "avgk"}, k=[2, 3])
    history = History(config, "avg3_accuracy")
    for epoch, accuracy in ((1, 0.4), (2, 0.5)):
        weights = {"weight": torch.tensor(float(epoch))}
        metrics = {"avg3_accuracy": accuracy, "top2_accuracy": 1 - accuracy}
        history.add(epoch, 1.0, Evaluation(metrics, {2: 0.2 / epoch, 3: 0.1 / epoch}), weights.copy)
    save_checkpoint(predictor(history, digits), tmp_path / "model.pt")
    saved = torch.load(tmp_path / "model.pt", weights_only=True)
    assert saved.pop("state") == {"weight": torch.tensor(2.0)}
    assert json.loads(json.dumps(saved)) == {
        "config": config.to_dict(),
        "thresholds": {"2": 0.1, "3": 0.05},
        "probabilities": "sigmoid",
        "num_classes": 10,
        "input_shape": [1, 8, 8],
        "mean": list(digits.mean or ()),
        "std": list(digits.std or ()),
        "class_names": [],
    }
    assert RunConfig.from_dict(saved["config"]).key == config.key


@pytest.fixture
def kept(make_config: Any, digits: Dataset, tmp_path: Path) -> Any:
    """``kept(loss, head)``: a trained model as a predictor, the test images, their labels and the run's metrics."""

    def make(loss: str, head: str, names: tuple[str, ...] = ()) -> tuple[SetPredictor, Any, Any, Any]:
        config = make_config(
            data={"name": "digits"},
            model={"name": "mlp", "hidden": 16},
            loss={"name": loss},
            training={"epochs": 6, "head": head, "optimizer": {"lr": 0.1}},
            k=[2, 3],
        )
        keep = KeepModel(folder=tmp_path / loss / head, criterion="avg3_accuracy")
        result = train(config, dataset=dataclasses.replace(digits, class_names=names), keep_model=keep)
        return SetPredictor(keep.folder), digits.test.inputs.numpy(), digits.test.labels.numpy(), result.metrics  # type: ignore[union-attr]

    return make


@pytest.mark.parametrize(("loss", "head"), [("cross_entropy", "ml"), ("avgk", "ml"), ("avgk", "sccp")])
def test_its_sets_are_as_right_and_as_large_as_the_run_reports(loss: str, head: str, kept: Any) -> None:
    model, images, labels, metrics = kept(loss, head)
    sets = model.predict(images, {"k": 3})
    assert sets.dtype == bool
    assert sets[np.arange(len(labels)), labels].mean() == pytest.approx(metrics["test/avg3_accuracy"], rel=1e-12)
    assert sets.sum(1).mean() == pytest.approx(metrics["test/avg3_set_size"], rel=1e-12)


def test_its_sets_may_be_given_by_name_and_are_those_of_the_smallest_k_unless_another_is_asked_for(kept: Any) -> None:
    for class_names in ((), tuple("abcdefghij")):
        model, images, _, _ = kept("cross_entropy", "ml", class_names)
        masks = model.predict(images)
        assert np.array_equal(masks, model.predict(images, {"k": 2}))
        assert masks.sum() < model.predict(images, {"k": 3}).sum()
        called = class_names or [str(label) for label in range(10)]
        expected = [[name for name, inside in zip(called, row, strict=True) if inside] for row in masks]
        assert model.predict(images, {"names": True}) == expected


def test_any_number_of_inputs_is_answered(kept: Any) -> None:
    model, images, _, _ = kept("cross_entropy", "ml")
    many = np.concatenate([images] * (BATCH // len(images) + 1))
    assert len(many) > BATCH
    assert np.array_equal(model.predict(many)[-len(images) :], model.predict(images))
    assert model.predict(images[:0]).shape == (0, 10)


def test_a_k_without_a_threshold_is_refused(kept: Any) -> None:
    model, images, _, _ = kept("cross_entropy", "ml")
    with pytest.raises(ValueError, match=r"^k must be one of \[2, 3\], got 4\.$"):
        model.predict(images, {"k": 4})
