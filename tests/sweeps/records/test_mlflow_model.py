"""A chosen model comes back from MLflow as one that returns sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pytest
import torch
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.table import build_model

CLASSES, SHAPE = 4, (1, 8, 8)
THRESHOLDS = {"1": 0.4, "2": 0.2}


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, torch.nn.Module]:
    """A folder as training saves it, and the model in it."""
    config = RunConfig(
        data={"name": "digits"},
        model=check_model({"name": "linear"}),
        loss={"name": "cross_entropy"},
        training=Training(),
        k=(1, 2),
        seed=3,
    )
    model = build_model(config.model, head="linear", input_shape=SHAPE, num_classes=CLASSES, seed=3)
    state = {
        "config": config.to_dict(),
        "state": model.state_dict(),
        "thresholds": THRESHOLDS,
        "probabilities": "softmax",
        "num_classes": CLASSES,
        "input_shape": list(SHAPE),
        "mean": (0.5,),
        "std": (0.25,),
        "class_names": ["cat", "cow", "dog", "hen"],
    }
    folder = tmp_path / "model"
    folder.mkdir()
    torch.save(state, folder / "model.pt")
    return folder, model


@pytest.fixture
def images() -> np.ndarray[Any, Any]:
    """Uint8 images, as the data set gives them."""
    return np.random.default_rng(0).integers(0, 256, (50, *SHAPE), dtype=np.uint8)


@pytest.fixture
def logged(folder: Path, study: Study, make_pair: Callable[..., Any], saved: tuple[Path, Any]) -> str:
    """The URI of the model after it was recorded, twice."""
    planned, result = make_pair("cross_entropy", 0.2, 10)
    for _ in range(2):
        recorder = MlflowRecorder(study)
        recorder.start()
        recorder.record(planned, result)
        recorder.group([(planned, result)])
        recorder.finish("tables", models=[(planned, saved[0])])
        assert recorder.close(), recorder.problem
    client = MlflowClient()
    experiment = client.get_experiment_by_name(study.name)
    assert experiment is not None
    (model,) = client.search_logged_models([experiment.experiment_id])
    assert (model.name, model.status) == ("cross_entropy label_noise=0_2", "READY")
    for run in client.search_runs([experiment.experiment_id], "tags.level != 'study'"):
        assert run.outputs is not None
        assert [output.model_id for output in run.outputs.model_outputs] == [model.model_id]
    return str(model.model_uri)


def test_a_logged_model_returns_the_classes_that_reach_the_threshold(
    logged: str, saved: tuple[Path, torch.nn.Module], images: np.ndarray[Any, Any]
) -> None:
    inputs = (torch.from_numpy(images) / 255 - 0.5) / 0.25
    probabilities = saved[1](inputs).softmax(dim=1).detach().numpy()

    model = mlflow.pyfunc.load_model(logged)

    for k, threshold in THRESHOLDS.items():
        sets = model.predict(images, params={"k": int(k)})
        clear = np.abs(probabilities - threshold) > 1e-5  # rounding decides nothing
        assert sets.dtype == bool
        assert sets.shape == (50, CLASSES)
        assert (sets == (probabilities >= threshold))[clear].all()
    assert (model.predict(images) == model.predict(images, params={"k": 1})).all()


def test_a_logged_model_returns_names_when_asked(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    masks = model.predict(images, params={"k": 2})
    names = model.predict(images, params={"k": 2, "names": True})
    assert names[0] == [name for name, inside in zip(("cat", "cow", "dog", "hen"), masks[0], strict=True) if inside]
    assert len(names) == 50


def test_a_k_without_a_threshold_is_refused(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    with pytest.raises(ValueError, match=r"k must be one of \[1, 2\], got 3\."):
        model.predict(images, params={"k": 3})


def test_no_inputs_give_no_sets(logged: str) -> None:
    model = mlflow.pyfunc.load_model(logged)
    assert model.predict(np.zeros((0, *SHAPE), np.uint8)).shape == (0, CLASSES)
