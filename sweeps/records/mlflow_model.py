"""A trained model as an MLflow model that returns sets: the threshold of each k is inside.

    model = mlflow.pyfunc.load_model("models:/m-...")
    model.predict(images, params={"k": 5, "sets": "avg"})        # (batch, classes) bool: the set of each image

MLflow keeps the file that training saved and the name of this module, which loads it; so it can be loaded and served
wherever Setsweep is installed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from mlflow import MlflowClient, pyfunc
from mlflow.entities import LoggedModelOutput
from mlflow.models import Model, ModelSignature
from mlflow.types import ParamSchema, ParamSpec, Schema, TensorSpec

from setsweep.trainables.evaluation.predictor import SetPredictor


def _load_pyfunc(data_path: str) -> SetPredictor:
    """Called by MLflow with the folder that was saved."""
    return SetPredictor(Path(data_path), trusted=[Path(data_path).parent])


def _signature(predictor: SetPredictor) -> ModelSignature:
    """What MLflow checks before it predicts; without it `k` would not be passed on."""
    inputs = np.dtype(np.uint8 if len(predictor.input_shape) == 3 else np.float32)
    return ModelSignature(
        inputs=Schema([TensorSpec(inputs, (-1, *predictor.input_shape))]),
        outputs=Schema([TensorSpec(np.dtype(bool), (-1, predictor.num_classes))]),
        params=ParamSchema(
            [
                ParamSpec("k", "long", predictor.defaults["k"]),
                ParamSpec("sets", "string", predictor.defaults["sets"]),
                ParamSpec("names", "boolean", predictor.defaults["names"]),
            ]
        ),
    )


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
            signature=_signature(SetPredictor(folder)),
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
