"""MLflow on SQLite in a folder of its own, and what is in it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Snapshot = dict[tuple[str, str], dict[str, Any]]

CREATE = "import sys, mlflow; mlflow.MlflowClient(sys.argv[1]).search_experiments()"


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as MLflow creates it, which takes seconds: once for all tests."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    subprocess.run([sys.executable, "-c", CREATE, f"sqlite:///{path}"], check=True, capture_output=True)
    return path


@pytest.fixture
def folder(tmp_path: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, with MLflow's default database in it."""
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


@pytest.fixture
def snapshot() -> Callable[[Path], Snapshot]:
    """Calls read all that a database holds, with MLflow's random ids replaced by level and run key."""
    return _snapshot


def _snapshot(folder: Path) -> Snapshot:
    database = sqlite3.connect(folder / "mlflow.db")
    tags: dict[str, dict[str, str]] = {}
    for run, key, value in database.execute("select run_uuid, key, value from tags"):
        tags.setdefault(run, {})[key] = value
    place = {run: (of_run["level"], of_run["run_key"]) for run, of_run in tags.items()}
    assert len(set(place.values())) == len(place), "a run is in MLflow twice"
    found: Snapshot = {
        place[run]: {
            "name": name,
            "status": status,
            "times": (start, end) if place[run][0] == "run" else None,
            "parent": place.get(tags[run].get("mlflow.parentRunId", "")),
            "tags": {name: value for name, value in tags[run].items() if name != "mlflow.parentRunId"},
            "params": dict(database.execute("select key, value from params where run_uuid = ?", [run])),
            "rows": sorted(
                database.execute("select key, step, timestamp, value, is_nan from metrics where run_uuid = ?", [run])
            ),
            "latest": dict(database.execute("select key, value from latest_metrics where run_uuid = ?", [run])),
        }
        for run, name, status, start, end in database.execute(
            "select run_uuid, name, status, start_time, end_time from runs"
        )
    }
    database.close()
    return found
