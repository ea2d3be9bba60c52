"""MLflow's own database: whether its schema is one that is known, and the statements that write many runs at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlflow.store.tracking.dbmodels import models
from sqlalchemy import (
    Connection,
    Engine,
    Table,
    bindparam,
    create_engine,
    event,
    func,
    make_url,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import NullPool

from setsweep.sweeps.records.mlflow.waiting import Values, Waiting

REVISIONS = {"dc11669786a5"}  # of MLflow's schema that are known; the one of 3.17
IN_MEMORY = (None, "", ":memory:")  # databases of SQLite which only the client's own connection sees
INSERTS: Mapping[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
CACHE_KIB = 64 * 1024  # of SQLite while it writes: its own 2 MiB hold no index of thousands of runs
BUSY_MS = 20_000  # that SQLite waits for another writer, like MLflow


def open_engine(uri: str) -> Engine | None:
    """The engine of a database that can be written in bulk; None: of a server, or a schema that is not known.

    Raises:
        SQLAlchemyError: the database can't be reached.
    """
    given = make_url(uri)
    if given.get_backend_name() not in INSERTS or given.database in IN_MEMORY:
        return None
    is_sqlite = given.get_backend_name() == "sqlite"
    style = "qmark" if is_sqlite else "format"  # of values that are known by their places
    engine = create_engine(given, poolclass=NullPool, paramstyle=style)  # no connection outlives a file
    if is_sqlite:
        event.listen(engine, "connect", _prepare)
    with engine.connect() as connection:
        found = set(connection.execute(text("select version_num from alembic_version")).scalars())
    if found & REVISIONS:
        return engine
    engine.dispose()
    return None


def _prepare(connection: Any, record: object) -> None:
    for name, value in {"foreign_keys": "ON", "busy_timeout": BUSY_MS, "cache_size": -CACHE_KIB}.items():
        connection.execute(f"PRAGMA {name} = {value}")


class Statements:
    """The statements of a transaction, each of which may be repeated.

    They are compiled once and given to the driver with their rows as they are: SQLAlchemy takes as long for a row as
    SQLite. PostgreSQL is given the rows of a table as an array a column, in one statement.

    Args:
        engine: of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._dialect = engine.dialect
        self._insert = INSERTS[engine.dialect.name]
        self._in_columns = engine.dialect.name == "postgresql"
        self._run = self._new(models.SqlRun)
        self._tag = self._over(models.SqlTag, ["key", "run_uuid"], ["value"])
        self._param = self._new(models.SqlParam)
        self._metric = self._new(models.SqlMetric)
        self._latest = self._over(
            models.SqlLatestMetric,
            ["key", "run_uuid"],
            ["step", "timestamp", "value", "is_nan"],
            ["step", "timestamp", "value"],
        )
        self._dataset = self._new(models.SqlDataset)
        self._input = self._new(models.SqlInput)

    def write(self, connection: Connection, experiment_id: int, waiting: Mapping[str, Waiting]) -> None:
        """Carry them out, runs before what belongs to them."""
        new = [{**one.run, **one.changes} for one in waiting.values() if one.run is not None]
        self._execute(connection, self._run, _rows(models.SqlRun, new))
        run = models.SqlRun.__table__
        for run_id, one in waiting.items():
            if one.run is None and one.changes:
                connection.execute(update(run).where(run.c.run_uuid == run_id).values(one.changes))
        each = waiting.items()
        self._execute(connection, self._param, [(*pair, run_id) for run_id, one in each for pair in one.params.items()])
        self._execute(connection, self._metric, [row for one in waiting.values() for row in one.metrics])
        self._execute(connection, self._latest, [row for one in waiting.values() for row in one.latest.values()])
        self._write_datasets(connection, experiment_id, waiting)
        self._execute(connection, self._tag, [(*pair, run_id) for run_id, one in each for pair in one.tags.items()])

    def _write_datasets(self, connection: Connection, experiment_id: int, waiting: Mapping[str, Waiting]) -> None:
        asked = [(run_id, *dataset) for run_id, one in waiting.items() for dataset in one.datasets]
        if not asked:
            return
        table = models.SqlDataset.__table__
        stored = connection.execute(
            select(table.c.name, table.c.digest, table.c.dataset_uuid).where(table.c.experiment_id == experiment_id)
        )
        ids = {(name, digest): dataset_id for name, digest, dataset_id in stored}
        new = {(name, digest): settings for _, name, digest, settings in asked if (name, digest) not in ids}
        ids |= {place: uuid.uuid4().hex for place in new}
        rows = [
            {
                "dataset_uuid": ids[name, digest],
                "experiment_id": experiment_id,
                "name": name,
                "digest": digest,
                "dataset_source_type": "setsweep",
                "dataset_source": settings,
                "dataset_schema": None,
                "dataset_profile": None,
            }
            for (name, digest), settings in new.items()
        ]
        self._execute(connection, self._dataset, _rows(models.SqlDataset, rows))
        inputs = [
            {
                "input_uuid": uuid.uuid4().hex,
                "source_type": "DATASET",
                "source_id": ids[name, digest],
                "destination_type": "RUN",
                "destination_id": run_id,
                "step": 0,
            }
            for run_id, name, digest, _ in asked
        ]
        self._execute(connection, self._input, _rows(models.SqlInput, inputs))

    def _new(self, model: Any) -> str:
        """Insert what isn't there."""
        return self._text(self._into(model.__table__).on_conflict_do_nothing())

    def _over(self, model: Any, key: Sequence[str], values: Sequence[str], later: Sequence[str] = ()) -> str:
        """Insert, or write over what is there; where `later` names columns, only if they are later than those there."""
        table: Table = model.__table__
        statement = self._into(table)
        given = statement.excluded
        is_later = tuple_(*(given[name] for name in later)) > tuple_(*(table.c[name] for name in later))
        over = statement.on_conflict_do_update(
            index_elements=list(key),
            set_={name: given[name] for name in values},
            where=is_later if later else None,
        )
        return self._text(over)

    def _into(self, table: Table) -> Any:
        """The insertion of rows with a value for each column, in the table's order."""
        if not self._in_columns:
            return self._insert(table)
        names = [column.name for column in table.columns]
        arrays = [bindparam(column.name, type_=postgresql.ARRAY(column.type)) for column in table.columns]
        given = func.unnest(*arrays).table_valued(*names).render_derived()
        return self._insert(table).from_select(names, select(*given.c))

    def _text(self, statement: Any) -> str:
        return str(statement.compile(dialect=self._dialect))

    def _execute(self, connection: Connection, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Carry out an insertion."""
        if rows and self._in_columns:
            connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))
        elif rows:
            connection.exec_driver_sql(statement, rows)


def _rows(model: Any, values: Iterable[Values]) -> list[tuple[Any, ...]]:
    """Rows of a table from values by column."""
    names = [column.name for column in model.__table__.columns]
    return [tuple(each[name] for name in names) for each in values]
