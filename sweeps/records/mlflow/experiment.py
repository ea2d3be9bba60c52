"""The experiment of a study in an MLflow store: found, brought back or made."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping

from mlflow import MlflowClient
from mlflow.entities import Experiment

from setsweep.sweeps.records.mlflow.client import denial, is_denial
from setsweep.sweeps.records.mlflow.state import OWNER, TEXT, is_own, text_digest
from setsweep.sweeps.records.mlflow_address import without_password
from setsweep.sweeps.records.mlflow_pages.view import experiment_tags
from setsweep.sweeps.study.study import Study

CHECK_SECONDS = 10.0  # for a server to say no; one that is away says nothing


def open_experiment(client: MlflowClient, study: Study, owner: str) -> str:
    """The id of the study's own experiment, of its name; where that is another study's, "NAME (2)" and so on."""
    tags = {**experiment_tags(study), OWNER: owner, TEXT: text_digest(study)}
    for number in itertools.count(1):
        name = study.name if number == 1 else f"{study.name} ({number})"
        found = client.get_experiment_by_name(name)
        if found is None:
            created: str = client.create_experiment(name, tags=tags)
            return created
        if is_own(found.tags, study, owner):
            return _take_up(client, found, tags)
    raise AssertionError


def check_access(uri: str, study: Study, owner: str) -> None:
    """Open the experiment once, before anything is trained. A server that is away may come back: that is no error.

    Raises:
        ValueError: the server does not let this user write.
    """
    denials: list[str] = []

    def ask() -> None:
        try:
            client = MlflowClient(uri)
            experiment = open_experiment(client, study, owner)
            client.set_experiment_tag(experiment, OWNER, owner)  # written even where it is there: reading is not enough
        except Exception as error:  # noqa: BLE001 - all but a denial is the recorder's to repeat
            if is_denial(error):
                denials.append(denial(error))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(CHECK_SECONDS)
    if denials:
        raise ValueError(
            f"MLflow at {without_password(uri)} must let this user write, got {denials[0]}. "
            "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN."
        )


def _take_up(client: MlflowClient, found: Experiment, tags: Mapping[str, str]) -> str:
    """An experiment that is there already; brought back where it was deleted."""
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    for name, value in tags.items():
        if found.tags.get(name) != value:
            client.set_experiment_tag(found.experiment_id, name, value)
    return str(found.experiment_id)
