"""The runs of one experiment, as MLflow lists them: read once, known without asking from then on, written in batches.

A row is known by its tags `level` and `run_key`, a run by its parent as well: where two arms ask for the same training,
both have it. A row is RUNNING until all of it is written. Used by one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow.by_client import ByClient
from setsweep.sweeps.records.mlflow.database import open_engine
from setsweep.sweeps.records.mlflow.in_bulk import InBulk
from setsweep.sweeps.records.mlflow.provenance import run_provenance
from setsweep.sweeps.records.mlflow_pages import rows

PARENT = "mlflow.parentRunId"

Place = tuple[str, str]  # level and run key


@dataclass
class Row:
    """What is known of a run in MLflow: just enough to see whether it is complete.

    Of one that is shown while it is trained, `live`: `shown` are the metrics and steps that this process has written;
    None of all others, whose curves begin anew.
    """

    run_id: str
    parent: str | None
    status: str = "RUNNING"
    end: int | None = None
    content: str | None = None
    written: int = 0
    current: bool = True
    chosen: bool = False
    live: bool = False
    shown: set[tuple[str, int]] | None = None

    @classmethod
    def of(cls, run_id: str, status: str, end: int | None, tags: Mapping[str, str]) -> Row:
        """What MLflow has of a run."""
        return cls(
            run_id=run_id,
            parent=tags.get(PARENT),
            status=status,
            end=end,
            content=tags.get(rows.CONTENT),
            written=int(tags.get(rows.WRITTEN, 0)),
            current=tags.get("current") != "false",
            chosen=tags.get("chosen") == "true",
            live=tags.get(rows.LIVE) == "true",
        )


_READ = (
    "level",
    "run_key",
    PARENT,
    rows.CONTENT,
    rows.WRITTEN,
    "current",
    "chosen",
    rows.LIVE,
)  # the tags that make a row


class Table:
    """The rows of an experiment. What is changed is in MLflow after `flush`, or as soon as `client` is asked for.

    Args:
        client: of the store.
        experiment_id: of the experiment.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: as in all methods, when MLflow can't be reached.

    Attributes:
        batch: after how many tasks of a recorder `flush` pays.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self._client, self.experiment_id = client, experiment_id
        engine = open_engine(client.tracking_uri)
        self._writer = ByClient(client, experiment_id) if engine is None else InBulk(engine, client, experiment_id)
        self.batch = self._writer.batch
        self._provenance = run_provenance()
        self._rows: dict[Place, list[Row]] = {}
        self._by_id: dict[str, Row] = {}
        for run_id, status, end, tags in self._writer.stored(_READ):
            self._add((tags.get("level", ""), tags.get("run_key", "")), Row.of(run_id, status, end, tags))

    @property
    def client(self) -> MlflowClient:
        """For all that is no row; what waits is written before."""
        self.flush()
        return self._client

    def at(self, place: Place) -> list[Row]:
        """The rows of that level and run key, the one that began first in front."""
        return self._rows.get(place, [])

    def row(self, run_id: str) -> Row:
        """The row of a run."""
        return self._by_id[run_id]

    def all(self) -> Iterator[tuple[str, Row]]:
        """Every row, after its level."""
        for (level, _), found in self._rows.items():
            for row in found:
                yield level, row

    def create(self, place: Place, name: str, tags: Mapping[str, str], started: float, parent: str | None) -> Row:
        """A new row, RUNNING.

        Args:
            place: its level and run key.
            name: what lists show.
            tags: its tags, beside where it comes from.
            started: Unix time.
            parent: the run id of the row that it is shown below.
        """
        all_tags = {**self._provenance, **tags, **({PARENT: parent} if parent else {})}
        row = Row(run_id=self._writer.create(name, all_tags, rows.milliseconds(started)), parent=parent)
        self._add(place, row)
        return row

    def log(
        self, row: Row, metrics: Iterable[rows.MetricRow], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        """Add to a row; tags take the place of those of their name."""
        self._writer.log(row.run_id, metrics, params, tags)

    def log_dataset(self, row: Row, name: str, digest: str, settings: str) -> None:
        """Say which data a row rests on, see `mlflow_pages.params.dataset`."""
        self._writer.log_dataset(row.run_id, name, digest, settings)

    def move(self, row: Row, name: str, tags: Mapping[str, str], parent: str) -> None:
        """Show a row below another one, with the name and the tags that it has there."""
        self._writer.log(row.run_id, (), {}, {**tags, PARENT: parent})
        self._writer.rename(row.run_id, name)
        row.parent = parent

    def drop(self, place: Place, row: Row) -> None:
        """Delete a row."""
        self.client.delete_run(row.run_id)
        self._rows[place].remove(row)

    def reopen(self, row: Row) -> None:
        """RUNNING again, where it is not."""
        if row.status != "RUNNING":
            self._writer.set_status(row.run_id, "RUNNING")
            row.status = "RUNNING"

    def end(self, row: Row, status: str, end: int) -> None:
        """Whole, as all of it is written; `end` in milliseconds."""
        self._writer.set_status(row.run_id, status, end)
        row.status, row.end = status, end

    def flush(self) -> None:
        """Write what waits."""
        self._writer.flush()

    def close(self) -> None:
        """Let go of the store."""
        self._writer.close()

    def _add(self, place: Place, row: Row) -> None:
        self._rows.setdefault(place, []).append(row)
        self._by_id[row.run_id] = row
