"""A trained model as an MLflow model that returns sets: the threshold of each k is inside.

    model = mlflow.pyfunc.load_model("models:/m-...")
    model.predict(images, params={"k": 5})        # (batch, classes) bool: the set of each image

MLflow keeps the file that training saved and the name of this module, which loads it; so it can be loaded and served
wherever Setsweep is installed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from mlflow import MlflowClient, pyfunc
from mlflow.entities import LoggedModelOutput
from mlflow.models import Model, ModelSignature
from mlflow.types import ParamSchema, ParamSpec, Schema, TensorSpec

from setsweep.data.batches import normalise
from setsweep.losses import LOSSES
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.models.table import build_model

BATCH = 1024


class SetPredictor:
    """Inputs as the data set gives them in, sets of classes out.

    Args:
        folder: where training saved ``model.pt``.
    """

    def __init__(self, folder: Path) -> None:
        saved = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)
        config = RunConfig.from_dict(saved["config"])
        self.thresholds = {int(k): float(threshold) for k, threshold in saved["thresholds"].items()}
        self.input_shape = tuple(saved["input_shape"])
        self.num_classes = int(saved["num_classes"])
        self.class_names = tuple(saved["class_names"])
        self._mean, self._std = saved["mean"], saved["std"]
        self._head = 0 if config.training.head == "ml" else 1
        self._softmax = saved["probabilities"] == "softmax"
        self._model = build_model(
            config.model,
            head=LOSSES[config.loss["name"]].head,
            input_shape=self.input_shape,
            num_classes=self.num_classes,
            seed=0,
            pretrained=False,
        )
        self._model.load_state_dict(saved["state"])
        self._model.eval()

    def predict(
        self, inputs: npt.NDArray[Any], params: Mapping[str, Any] | None = None
    ) -> npt.NDArray[np.bool_] | list[list[str]]:
        """The set of each input: the classes whose probability reaches the threshold of `k`.

        Args:
            inputs: (batch, channels, height, width) uint8 images or (batch, features) float32.
            params: ``k``: a set size of the study (default: its smallest); ``names``: whether sets are returned as
                lists of class names (indices as text, where the classes have no names).

        Returns:
            (batch, classes) bool: who is in the set; or the names.

        Raises:
            ValueError: a `k` for which there is no threshold.
        """
        options = {"k": min(self.thresholds), "names": False, **(params or {})}
        if options["k"] not in self.thresholds:
            raise ValueError(f"k must be one of {sorted(self.thresholds)}, got {options['k']}.")
        sets = self.probabilities(inputs) >= self.thresholds[options["k"]]
        if not options["names"]:
            return sets
        names = self.class_names or [str(label) for label in range(self.num_classes)]
        return [[names[label] for label in np.flatnonzero(row)] for row in sets]

    @torch.inference_mode()
    def probabilities(self, inputs: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """(batch, classes): what the thresholds are compared with."""
        parts = [self._probabilities(torch.tensor(part)) for part in _batches(inputs)]
        return torch.cat(parts).numpy() if parts else np.zeros((0, self.num_classes), np.float32)

    def _probabilities(self, inputs: torch.Tensor) -> torch.Tensor:
        scores = self._model(normalise(inputs, self._mean, self._std))
        if isinstance(scores, tuple):
            scores = scores[self._head]
        probabilities: torch.Tensor = scores.softmax(dim=1) if self._softmax else scores.sigmoid()
        return probabilities

    def signature(self) -> ModelSignature:
        """What MLflow checks before it predicts; without it `k` would not be passed on."""
        inputs = np.dtype(np.uint8 if len(self.input_shape) == 3 else np.float32)
        return ModelSignature(
            inputs=Schema([TensorSpec(inputs, (-1, *self.input_shape))]),
            outputs=Schema([TensorSpec(np.dtype(bool), (-1, self.num_classes))]),
            params=ParamSchema(
                [
                    ParamSpec("k", "long", min(self.thresholds)),
                    ParamSpec("names", "boolean", False),
                ]
            ),
        )


def _load_pyfunc(data_path: str) -> SetPredictor:
    """Called by MLflow with the folder that was saved."""
    return SetPredictor(Path(data_path))


def log_model(
    client: MlflowClient,
    folder: Path,
    *,
    experiment_id: str,
    name: str,
    tags: Mapping[str, str],
    params: Mapping[str, str],
    run_ids: Sequence[str],
) -> str:
    """Log the model in `folder`, unless one with the same `run_key` among its tags is there, whole.

    Args:
        client: of the store it goes to.
        folder: where training saved ``model.pt``.
        experiment_id: whose model it is.
        name: shown in MLflow; characters that it doesn't take become ``_``.
        tags: of the model; `run_key` among them.
        params: of the model.
        run_ids: the runs that list it among their models; the last one trained it.

    Returns:
        The model's id; its URI is ``models:/<id>``.
    """
    for found in client.search_logged_models([experiment_id], f"tags.run_key = '{tags['run_key']}'"):
        if found.status == "READY":
            return str(found.model_id)
        client.delete_logged_model(found.model_id)  # a process was killed while it wrote this one
    model = client.create_logged_model(
        experiment_id, re.sub(r"[/:.%\"']", "_", name), run_ids[-1], dict(tags), dict(params), "set-valued classifier"
    )
    with tempfile.TemporaryDirectory() as temporary:
        local = Path(temporary) / "model"
        pyfunc.save_model(
            local,
            loader_module=__name__,
            data_path=str(folder),
            mlflow_model=Model(
                model.artifact_location, run_ids[-1], model_uuid=model.model_id, model_id=model.model_id
            ),
            signature=SetPredictor(folder).signature(),
            pip_requirements=_requirements(),
        )
        client.log_model_artifacts(model.model_id, str(local))
    for run_id in run_ids:
        client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
    client.finalize_logged_model(model.model_id, "READY")
    return str(model.model_id)


def _requirements() -> list[str]:
    """Stated, because MLflow would spend seconds on finding them out."""
    try:
        return [f"setsweep=={version('setsweep')}"]
    except PackageNotFoundError:  # running from a source tree
        return [f"torch=={version('torch')}", f"mlflow=={version('mlflow')}"]


def _batches(inputs: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    return [inputs[start : start + BATCH] for start in range(0, len(inputs), BATCH)]
