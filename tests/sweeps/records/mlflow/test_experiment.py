"""The experiment of a study in a store: its own, and nobody else's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow.experiment import check_access, open_experiment
from setsweep.sweeps.records.mlflow.state import OWNER, TEXT, text_digest
from setsweep.sweeps.study.study import Study

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def client(folder: Path) -> MlflowClient:
    return MlflowClient()


def test_a_study_has_one_experiment_of_its_name_however_often_it_is_opened(client: MlflowClient, study: Study) -> None:
    opened = open_experiment(client, study, "me")
    assert open_experiment(client, study, "me") == opened
    experiment = client.get_experiment(opened)
    assert (experiment.name, experiment.tags[OWNER], experiment.tags[TEXT]) == (
        "which-loss", "me", text_digest(study)
    )  # fmt: skip


def test_another_folders_other_study_of_the_name_gets_a_number(client: MlflowClient, study: Study) -> None:
    mine = open_experiment(client, study, "me")
    changed = replace(study, given={"study": "which-loss", "epochs": 1})
    yours, third = (open_experiment(client, replace(changed, about=owner), owner) for owner in ("you", "you"))
    assert client.get_experiment(yours).name == "which-loss (2)"
    assert third == yours != mine
    theirs = open_experiment(client, replace(study, given={"study": "again another"}), "they")
    assert client.get_experiment(theirs).name == "which-loss (3)"


def test_the_same_study_in_another_folder_shares_the_experiment(client: MlflowClient, study: Study) -> None:
    assert open_experiment(client, study, "me") == open_experiment(client, study, "you")


def test_a_study_that_changed_in_its_folder_keeps_its_experiment_which_learns_of_it(
    client: MlflowClient, study: Study
) -> None:
    opened = open_experiment(client, study, "me")
    changed = replace(study, given={"study": "which-loss", "epochs": 1})
    assert open_experiment(client, changed, "me") == opened
    assert client.get_experiment(opened).tags[TEXT] == text_digest(changed) != text_digest(study)


def test_an_experiment_that_was_deleted_is_brought_back(client: MlflowClient, study: Study) -> None:
    opened = open_experiment(client, study, "me")
    client.delete_experiment(opened)
    assert open_experiment(client, study, "me") == opened
    assert client.get_experiment(opened).lifecycle_stage == "active"


def test_a_store_that_can_be_written_passes_and_one_that_is_away_is_no_error(
    client: MlflowClient, study: Study, tmp_path: Path
) -> None:
    check_access(f"sqlite:///{tmp_path}/mlflow.db", study, "me")
    assert client.get_experiment_by_name("which-loss").tags[OWNER] == "me"
    (tmp_path / "taken").write_text("no folder")
    check_access(f"sqlite:///{tmp_path}/taken/mlflow.db", study, "me")
