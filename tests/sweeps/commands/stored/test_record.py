"""``setsweep record``: what is done of a study into another store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from setsweep.sweeps.records.mlflow_address import view_path

Command = Callable[..., Any]

ROWS = 1 + 5 + 7  # the study; 3 trials and 2 confirmed configurations; their runs


def _count(database: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        found: int = connection.execute("select count(*) from runs").fetchone()[0]
    return found


def test_a_study_is_copied_to_another_store_and_stays_in_the_first(
    setsweep: Command, small: Path, folder: Path, empty_database: Path
) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    (folder / "other.db").write_bytes(empty_database.read_bytes())

    said = setsweep("record", "small", "--tracking-uri", "sqlite:///other.db")

    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "MLflow: setsweep ui small --tracking-uri sqlite:///other.db",
        f"http://127.0.0.1:5000/{view_path('1')}",
    ]
    assert (_count("mlflow.db"), _count("other.db")) == (ROWS, ROWS)


def test_recording_a_study_that_was_never_run_is_refused(setsweep: Command, small: Path) -> None:
    said = setsweep("record", small)
    assert said.code == 2
    assert "--storage must be a folder in which 'small' was run, got 'setsweep-results'." in said.err
