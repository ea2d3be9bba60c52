"""Whether an MLflow store has all of a study, and which experiment of a store is a study's own.

The store is asked, not a file beside the journal: an experiment that was deleted, a server that was reset and a study
that was recorded elsewhere are noticed. A SQLite database is read without MLflow, whose import takes seconds.
"""

from __future__ import annotations

import hashlib
import sqlite3
import uuid
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from setsweep.sweeps.records.mlflow_address import database_file
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

RECORDED = "mlflow.setsweep.recorded"  # tags of an experiment: what it has, when it has all of it;
OWNER = "mlflow.setsweep.owner"  # the study's folder that it is of;
TEXT = "mlflow.setsweep.study"  # and the study file

_OWNER_FILE = "mlflow.id"

_QUERY = """
    select experiments.experiment_id from experiments
    join experiment_tags on experiment_tags.experiment_id = experiments.experiment_id
    where experiments.lifecycle_stage = 'active' and experiment_tags.key = ? and experiment_tags.value = ?
"""


def owner_of(folder: Path) -> str:
    """The name of a study's folder in MLflow, the same wherever the folder is moved; made up at the first time."""
    path = folder / _OWNER_FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(uuid.uuid4().hex[:12])
    return path.read_text().strip()


def text_digest(study: Study) -> str:
    """Names a study file by what it says."""
    return hashlib.sha256(study.text.encode()).hexdigest()[:16]


def state_of(study: Study, results: Mapping[str, RunResult], owner: str) -> str:
    """Names all that MLflow should have of a study."""
    keys = sorted(f"{key}:{result.status}:{result.finished}" for key, result in results.items())
    return hashlib.sha256("\n".join([owner, study.text, *keys]).encode()).hexdigest()[:16]


def is_own(tags: Mapping[str, str], study: Study, owner: str) -> bool:
    """Whether an experiment is a study's: of no known folder, of its own folder, or of a study that is the same.

    The runs of two studies that are the same have the same keys and results, so they share them.
    """
    return tags.get(OWNER, owner) == owner or tags.get(TEXT) == text_digest(study)


def recorded_experiment(uri: str, state: str) -> str | None:
    """The id of the experiment that has all of a study; None: there is none, or the store does not answer."""
    database = database_file(uri)
    if database is None:
        from setsweep.sweeps.records.mlflow.client import experiment_with

        return experiment_with(uri, RECORDED, state)
    if not database.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute(_QUERY, [RECORDED, state]).fetchone()
    except sqlite3.Error:  # whatever it holds, the study is not in it
        return None
    return None if found is None else str(found[0])
