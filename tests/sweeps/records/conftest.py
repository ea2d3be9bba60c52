"""What tests need that ask MLflow's store themselves, without the recorder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine, select
from sqlalchemy.pool import NullPool

from setsweep.sweeps.records.mlflow.quiet import keep_quiet
from setsweep.sweeps.records.mlflow_pages.rows import CONTENT

Tables = dict[str, list[tuple[Any, ...]]]

MOMENTS = ("creation_time", "last_update_time")  # columns that say when something was written


@pytest.fixture
def quiet() -> None:
    """MLflow warns of itself where it is imported, which the recorder has silenced."""
    keep_quiet()


@pytest.fixture
def dump() -> Callable[[str], Tables]:
    """Calls read every table of a database, sorted, with names in the place of ids, without the moments of writing."""
    return _dump


def _dump(uri: str) -> Tables:
    engine = create_engine(uri, poolclass=NullPool)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        read = {
            name: [dict(row._mapping) for row in connection.execute(select(table))]
            for name, table in metadata.tables.items()
        }
    names = _names(read)

    def named(row: dict[str, Any]) -> tuple[Any, ...]:
        if row.get("key") == CONTENT and "'study'" in names[row["run_uuid"]]:
            row["value"] = "names the page, in which there are ids"
        return tuple(_named(value, names) for name, value in row.items() if name not in MOMENTS)

    return {name: sorted(map(named, rows), key=repr) for name, rows in read.items()}


def _names(read: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Names of everything that has a random id."""
    tags: dict[str, dict[str, str]] = {}
    for row in read["tags"]:
        tags.setdefault(row["run_uuid"], {})[row["key"]] = row["value"]
    experiments = {row["run_uuid"]: row["experiment_id"] for row in read["runs"]}
    places = {run: (experiments[run], of.get("level", ""), of.get("run_key", "")) for run, of in tags.items()}
    names = {run: f"{places[run]} below {places.get(of.get('mlflow.parentRunId', ''))}" for run, of in tags.items()}
    assert len({*names.values()}) == len(names), "a run is there twice"
    names |= {row["dataset_uuid"]: f"{row['name']} {row['digest']}" for row in read["datasets"]}
    names |= {row["input_uuid"]: "an input" for row in read["inputs"]}
    return names


def _named(value: Any, names: dict[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    if value in names:
        return names[value]
    for unique, name in names.items():
        if len(value) > len(unique) and unique in value:
            value = value.replace(unique, name)
    return value
