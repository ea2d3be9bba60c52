"""Writes runs into MLflow's own database, many in one transaction.

MLflow's client commits three times a run or more, and loads the run before each. Here everything waits until `flush`,
which inserts it in a few statements into the tables that MLflow declares. What is in the database then is what the
client's calls leave, row for row: tested for the schemas of `database.REVISIONS`; others are left to the client.
All statements may be repeated, and so may a transaction of which nobody knows whether it was committed.
"""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mlflow import MlflowClient
from mlflow.store.tracking.dbmodels import models
from mlflow.utils.mlflow_tags import MLFLOW_RUN_NAME, MLFLOW_USER
from mlflow.utils.uri import append_to_uri_path
from mlflow.utils.validation import _validate_metric, _validate_param, _validate_tag
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from setsweep.sweeps.records.mlflow.database import Statements
from setsweep.sweeps.records.mlflow.waiting import Waiting
from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

SHORT = 250  # characters, which no limit of MLflow's is below


class InBulk:
    """The runs of one experiment, written in transactions; for the methods see `ByClient`.

    Args:
        engine: of a database that `open_engine` gave.
        client: of the same database.
        experiment_id: of the experiment.

    Raises:
        MlflowException: from `create` and `log`: what MLflow refuses, of which nothing is written.
        SQLAlchemyError: from all that reads, and from `flush`; what waits is kept.
    """

    batch = 500  # tasks of a recorder in a transaction

    def __init__(self, engine: Engine, client: MlflowClient, experiment_id: str) -> None:
        self._engine = engine
        self._experiment_id = int(experiment_id)
        self._artifacts = client.get_experiment(experiment_id).artifact_location
        self._statements = Statements(engine)
        self._waiting: dict[str, Waiting] = {}

    def create(self, name: str, tags: Mapping[str, str], start: int) -> str:
        """A new run, RUNNING since `start` (milliseconds); gives its id."""
        run_id = _new_id()
        run = {
            "run_uuid": run_id,
            "name": name,
            "source_type": "UNKNOWN",
            "source_name": "",
            "entry_point_name": "",
            "user_id": tags.get(MLFLOW_USER, "unknown"),
            "status": "RUNNING",
            "start_time": start,
            "end_time": None,
            "deleted_time": None,
            "source_version": "",
            "lifecycle_stage": "active",
            "artifact_uri": append_to_uri_path(self._artifacts, run_id, "artifacts"),  # type: ignore[no-untyped-call]
            "experiment_id": self._experiment_id,
        }
        self._waiting[run_id] = Waiting(run=run, tags=_checked(_validate_tag, {**tags, MLFLOW_RUN_NAME: name}))
        return run_id

    def log(
        self, run_id: str, metrics: Iterable[MetricRow], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        """Add metrics and params; tags take the place of those of their name."""
        found = list(metrics)
        for metric in found:
            _check_metric(metric.name)
        new_params, new_tags = _checked(_validate_param, params), _checked(_validate_tag, tags)
        waiting = self._of(run_id)
        waiting.params |= new_params
        waiting.tags |= new_tags
        for metric in found:
            waiting.add(run_id, metric)

    def log_dataset(self, run_id: str, name: str, digest: str, settings: str) -> None:
        """Say which data a run rests on."""
        self._of(run_id).datasets.append((name, digest, settings))

    def rename(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        waiting = self._of(run_id)
        waiting.changes["name"] = name
        waiting.tags[MLFLOW_RUN_NAME] = name

    def set_status(self, run_id: str, status: str, end: int | None = None) -> None:
        """RUNNING again, or ended at `end` (milliseconds)."""
        self._of(run_id).changes |= {"status": status, **({} if end is None else {"end_time": end})}

    def flush(self) -> None:
        """Write what waits, all of it or, if the database is away, nothing; what it refuses is left out and told."""
        waiting, self._waiting = self._waiting, {}
        try:
            self._write(waiting)
        except (OperationalError, InterfaceError):
            self._waiting = waiting
            raise
        except SQLAlchemyError:
            self._write_each(waiting)

    def stored(self, tags: Sequence[str]) -> Iterator[tuple[str, str, int | None, dict[str, str]]]:
        """The runs that there are, the one that began first in front: id, status, end, those of the tags it has."""
        runs, tag = models.SqlRun.__table__, models.SqlTag.__table__
        asked = (
            select(runs.c.run_uuid, runs.c.status, runs.c.end_time, tag.c.key, tag.c.value)
            .join(tag, (tag.c.run_uuid == runs.c.run_uuid) & tag.c.key.in_(tags))
            .where(runs.c.experiment_id == self._experiment_id, runs.c.lifecycle_stage == "active")
            .order_by(runs.c.start_time, runs.c.run_uuid)
        )
        found: dict[str, tuple[str, str, int | None, dict[str, str]]] = {}
        with self._engine.connect() as connection:
            for run_id, status, end, key, value in connection.execute(asked):
                found.setdefault(run_id, (run_id, status, end, {}))[3][key] = value
        yield from found.values()

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _of(self, run_id: str) -> Waiting:
        return self._waiting.setdefault(run_id, Waiting())

    def _write(self, waiting: Mapping[str, Waiting]) -> None:
        if waiting:
            with self._engine.begin() as connection:
                self._statements.write(connection, self._experiment_id, waiting)

    def _write_each(self, waiting: Mapping[str, Waiting]) -> None:
        """A run that the database takes not must not hold up the others: it is left out, and the first one is told."""
        refused: list[DBAPIError] = []
        for run_id, one in waiting.items():
            try:
                self._write({run_id: one})
            except (OperationalError, InterfaceError):
                self._waiting[run_id] = one
                raise
            except DBAPIError as error:
                refused.append(error)
        if refused:
            raise ValueError(f"MLflow's database must take every run, got {len(refused)} refusals: {refused[0].orig}")


def _new_id() -> str:
    """Of a run: as random as MLflow's, but later ones sort behind, so that indexes grow at their end and stay dense."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def _checked(validate: Callable[[str, str], Any], values: Mapping[str, str]) -> dict[str, str]:
    """Params or tags as MLflow takes them, which cuts long ones; raises what MLflow raises of their names."""
    for name in values:
        _check_name(validate, name)
    return {name: value if len(value) <= SHORT else validate(name, value).value for name, value in values.items()}


@functools.cache
def _check_name(validate: Callable[[str, str], Any], name: str) -> None:
    validate(name, "")


@functools.cache
def _check_metric(name: str) -> None:
    """Times, steps and values are right by their types."""
    _validate_metric(name, 0.0, 0, 0)  # type: ignore[no-untyped-call]
