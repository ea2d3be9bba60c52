"""A trained model as an MLflow model that returns sets: the threshold of each k is inside.

    model = mlflow.pyfunc.load_model("models:/m-...")
    model.predict(images, params={"k": 5, "sets": "avg"})        # (batch, classes) bool: the set of each image
    model.predict(images, params={"coverage": 0.9, "sets": "conformal"})  # where the run was calibrated

MLflow keeps the file that training saved and the code that answers with it, so it can be loaded and served where
Setsweep is not installed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mlflow import MlflowClient, pyfunc
from mlflow.entities import LoggedModelOutput, Metric
from mlflow.models import Model, ModelSignature
from mlflow.types import ParamSchema, ParamSpec, Schema, TensorSpec

from setsweep.data.user_function import is_own
from setsweep.sweeps.records.mlflow.code import LOADER, copy_code, pack_code, requirements
from setsweep.trainables.evaluation.predictor import SetPredictor
from setsweep.trainables.evaluation.served import ServedPredictor

USAGE = 'mlflow.pyfunc.load_model("models:/{id}").predict(images, params={{"k": {k}}})  # (batch, classes) bool'


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """What is logged of a model beside its files.

    Args:
        name: shown in MLflow; characters that it doesn't take become ``_``.
        tags: of the model; `run_key` and `arm` among them, which name it.
        params: of the model.
        metrics: names of the metrics of its first run that are shown with it.
        dataset: name and digest of the data that the metrics are of.
    """

    name: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Sequence[str] = ()
    dataset: tuple[str, str] = ("", "")


def log_model(
    client: MlflowClient, folder: Path, record: ModelRecord, *, experiment_id: str, run_ids: Sequence[str]
) -> str:
    """Log the model in `folder`, unless it is there already, whole.

    Args:
        client: of the store it goes to.
        folder: where training saved ``model.pt``.
        record: see `ModelRecord`.
        experiment_id: whose model it is.
        run_ids: the runs that list it among their models; the last one trained it.

    Returns:
        The model's id; its URI is ``models:/<id>``.
    """
    named = " and ".join(f"tags.{name} = '{record.tags[name]}'" for name in ("run_key", "arm"))
    for found in client.search_logged_models([experiment_id], named):
        if found.status == "READY":
            return str(found.model_id)
        client.delete_logged_model(found.model_id)  # a process was killed while it wrote this one
    name = re.sub(r"[/:.%\"']", "_", record.name)
    tags, params = dict(record.tags), dict(record.params)
    model = client.create_logged_model(experiment_id, name, run_ids[-1], tags, params, "set-valued classifier")
    try:
        ids = Model(model.artifact_location, run_ids[-1], model_uuid=model.model_id, model_id=model.model_id)
        with tempfile.TemporaryDirectory() as temporary:
            k = _save(folder, Path(temporary), ids)
            client.log_model_artifacts(model.model_id, str(Path(temporary) / "model"))
    except BaseException:
        client.delete_logged_model(model.model_id)  # else it would be "Pending" for ever
        raise
    usage = USAGE.format(id=model.model_id, k=k)
    client.set_logged_model_tags(model.model_id, {"usage": usage, "mlflow.note.content": f"`{usage}`"})
    _log_metrics(client, run_ids[0], str(model.model_id), record)
    for run_id in run_ids:
        client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
    client.finalize_logged_model(model.model_id, "READY")
    return str(model.model_id)


def _save(folder: Path, temporary: Path, ids: Model) -> int:
    """Write the MLflow model into ``model`` below `temporary`; gives the k that it answers for unasked."""
    predictor = SetPredictor(folder)
    code = temporary / "code"
    code.mkdir()
    _, *own = copy_code(code, _user_functions(folder))
    needed = requirements(code)
    k = int(predictor.defaults["k"])
    pyfunc.save_model(
        temporary / "model",
        loader_module=LOADER,
        data_path=str(folder),
        code_paths=[*pack_code(code), *own],
        mlflow_model=ids,
        signature=_signature(predictor),
        input_example=np.zeros((1, *predictor.input_shape), _input_type(predictor)),
        pip_requirements=needed,
        metadata=_metadata(predictor),
    )
    return k


def _user_functions(folder: Path) -> list[str]:
    """The user's own model, if it is one."""
    config = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)["config"]
    return [config["model"]["name"]] if is_own(config["model"]["name"]) else []


def _input_type(predictor: SetPredictor) -> np.dtype[Any]:
    return np.dtype(np.uint8 if len(predictor.input_shape) == 3 else np.float32)


def _signature(predictor: SetPredictor) -> ModelSignature:
    """What MLflow checks before it predicts; without it the params would not be passed on."""
    kinds = {str: "string", bool: "boolean", int: "long", float: "double"}
    return ModelSignature(
        inputs=Schema([TensorSpec(_input_type(predictor), (-1, *predictor.input_shape))]),
        outputs=Schema([TensorSpec(np.dtype(bool), (-1, predictor.num_classes))]),
        params=ParamSchema(
            [ParamSpec(name, kinds[type(value)], value) for name, value in ServedPredictor(predictor).defaults.items()]
        ),
    )


def _metadata(predictor: SetPredictor) -> dict[str, Any]:
    """For those who serve it: what goes in and what comes out."""
    images = len(predictor.input_shape) == 3
    return {
        "classes": list(predictor.class_names) or predictor.num_classes,
        "thresholds": {str(k): threshold for k, threshold in predictor.thresholds.items()},
        **({"conformal": [each.name for each in conformal]} if (conformal := predictor.conformal.thresholds) else {}),
        "inputs": "uint8 images, 0 to 255, (batch, channels, height, width)" if images else "float32 (batch, features)",
        "outputs": "bool (batch, classes): the classes of each set",
    }


def _log_metrics(client: MlflowClient, run_id: str, model_id: str, record: ModelRecord) -> None:
    """Numbers of the configuration on the model's own page."""
    name, digest = record.dataset
    run = client.get_run(run_id)
    moment = (run.info.end_time or run.info.start_time) + 3
    metrics = [
        Metric(
            key,
            run.data.metrics[key],
            moment,
            0,
            model_id=model_id,
            dataset_name=name,
            dataset_digest=digest,
            run_id=run_id,
        )
        for key in record.metrics
        if key in run.data.metrics
    ]
    client.log_batch(run_id, metrics)
