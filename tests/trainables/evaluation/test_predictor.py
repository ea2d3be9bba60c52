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
        "head": "two_head",
        "thresholds": {"2": 0.1, "3": 0.05},
        "criterion": "avg3_accuracy",
        "probabilities": "sigmoid",
        "scale": 1.0,
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

    def make(
        loss: str, head: str, names: tuple[str, ...] = (), criterion: str = "avg3_accuracy"
    ) -> tuple[SetPredictor, Any, Any, Any]:
        config = make_config(
            data={"name": "digits"},
            model={"name": "mlp", "hidden": 16},
            loss={"name": loss},
            training={"epochs": 6, "head": head, "optimizer": {"lr": 0.1}},
            k=[2, 3],
        )
        keep = KeepModel(folder=tmp_path / loss / head, criterion=criterion)
        result = train(config, dataset=dataclasses.replace(digits, class_names=names), keep_model=keep)
        return SetPredictor(keep.folder), digits.test.inputs.numpy(), digits.test.labels.numpy(), result.metrics  # type: ignore[union-attr]

    return make


@pytest.mark.parametrize(("loss", "head"), [("cross_entropy", "ml"), ("avgk", "ml"), ("avgk", "sccp"), ("ldam", "ml")])
def test_its_sets_are_as_right_and_as_large_as_the_run_reports(loss: str, head: str, kept: Any) -> None:
    model, images, labels, metrics = kept(loss, head)
    sets = model.predict(images, {"k": 3})
    assert sets.dtype == bool
    assert sets[np.arange(len(labels)), labels].mean() == pytest.approx(metrics["test/avg3_accuracy"], rel=1e-12)
    assert sets.sum(1).mean() == pytest.approx(metrics["test/avg3_set_size"], rel=1e-12)


@pytest.mark.parametrize(("loss", "head"), [("cross_entropy", "ml"), ("avgk", "sccp"), ("ldam", "ml")])
def test_its_sets_of_k_classes_are_as_right_as_the_run_reports(loss: str, head: str, kept: Any) -> None:
    model, images, labels, metrics = kept(loss, head, criterion="top2_accuracy")
    assert model.defaults == {"k": 2, "sets": "top", "names": False}
    sets = model.predict(images)
    assert (sets.sum(1) == 2).all()
    assert sets[np.arange(len(labels)), labels].mean() == pytest.approx(metrics["test/top2_accuracy"], rel=1e-12)
    assert np.array_equal(sets, model.predict(images, {"sets": "top", "k": 2}))
    assert (model.predict(images, {"k": 7}).sum(1) == 7).all()  # of any k, also of none of the run's
    averaged = model.predict(images, {"sets": "avg", "k": 3})
    assert (averaged == (model.probabilities(images) >= model.thresholds[3])).mean() > 0.999


def test_a_probability_between_a_threshold_and_its_rounding_is_judged_as_in_evaluation(kept: Any) -> None:
    model, images, _, _ = kept("cross_entropy", "ml")
    likely = np.sort(model.probabilities(images[:1])[0].astype(np.float64))
    below = likely[-3]  # a threshold just above it, which single precision rounds to it
    model.thresholds[3] = below * (1 + 1e-9)
    assert np.float32(model.thresholds[3]) == np.float32(below)
    assert model.predict(images[:1], {"k": 3}).sum() == 2
    model.thresholds[3] = below
    assert model.predict(images[:1], {"k": 3}).sum() == 3


def test_a_model_of_the_form_before_answers_as_it_did(kept: Any, tmp_path: Path) -> None:
    _, images, _, _ = kept("cross_entropy", "ml")
    saved = torch.load(tmp_path / "cross_entropy" / "ml" / "model.pt", weights_only=True)
    del saved["criterion"], saved["scale"]
    save_checkpoint(saved, tmp_path / "model.pt")
    model = SetPredictor(tmp_path)
    assert model.defaults == {"k": 2, "sets": "avg", "names": False}
    assert np.array_equal(model.predict(images), model.probabilities(images) >= model.thresholds[2])


def test_a_file_that_has_another_function_called_is_refused_before_anything_of_it_is(kept: Any, tmp_path: Path) -> None:
    kept("cross_entropy", "ml")
    saved = torch.load(tmp_path / "cross_entropy" / "ml" / "model.pt", weights_only=True)
    hit = tmp_path / "hit"
    saved["config"]["model"] = {"name": "subprocess:check_call", "args": ["touch", str(hit)]}
    save_checkpoint(saved, tmp_path / "model.pt")
    with pytest.raises(ValueError, match=r"model\.name must be a function of a module in the study's folder"):
        SetPredictor(tmp_path)
    assert not hit.exists()


def test_its_sets_may_be_given_by_name_and_are_those_it_was_kept_for_unless_others_are_asked_for(kept: Any) -> None:
    for class_names in ((), tuple("abcdefghij")):
        model, images, _, _ = kept("cross_entropy", "ml", class_names)
        masks = model.predict(images)
        assert np.array_equal(masks, model.predict(images, {"k": 3}))
        assert masks.sum() > model.predict(images, {"k": 2}).sum()
        called = class_names or [str(label) for label in range(10)]
        expected = [[name for name, inside in zip(called, row, strict=True) if inside] for row in masks]
        assert model.predict(images, {"names": True}) == expected


def test_any_number_of_inputs_is_answered(kept: Any) -> None:
    model, images, _, _ = kept("cross_entropy", "ml")
    many = np.concatenate([images] * (BATCH // len(images) + 1))
    assert len(many) > BATCH
    assert np.array_equal(model.predict(many)[-len(images) :], model.predict(images))
    assert model.predict(images[:0]).shape == (0, 10)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 4}, r"^k must be one of \[2, 3\], got 4\.$"),
        ({"sets": "top", "k": 11}, r"^k must be between 1 and num_classes = 10, got 11\.$"),
        ({"sets": "mean"}, r"^sets must be one of top, avg, got 'mean'\.$"),
    ],
)
def test_sets_that_it_can_not_give_are_refused(params: dict[str, Any], message: str, kept: Any) -> None:
    model, images, _, _ = kept("cross_entropy", "ml")
    with pytest.raises(ValueError, match=message):
        model.predict(images, params)
