"""The runs of one experiment, as MLflow lists them: read once, known without asking from then on, written in batches.

A row is known by its tags `level` and `run_key`, a run by its parent as well: where two arms ask for the same training,
both have it. A row is RUNNING until all of it is written. Used by one thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Metric, Param, Run, RunTag

from setsweep.sweeps.records.mlflow.provenance import run_provenance
from setsweep.sweeps.records.mlflow_pages import rows

BATCH = 800  # metrics in one call; with params and tags MLflow takes 1000
PAGE = 500  # runs in memory at once while an experiment is read

Place = tuple[str, str]  # level and run key


@dataclass
class Row:
    """What is known of a run in MLflow: just enough to see whether it is complete."""

    run_id: str
    parent: str | None
    status: str = "RUNNING"
    end: int | None = None
    content: str | None = None
    written: int = 0
    current: bool = True
    chosen: bool = False

    @classmethod
    def of(cls, run: Run) -> Row:
        """What MLflow has of a run."""
        tags: Mapping[str, str] = run.data.tags
        return cls(
            run_id=run.info.run_id,
            parent=tags.get("mlflow.parentRunId"),
            status=run.info.status,
            end=run.info.end_time,
            content=tags.get(rows.CONTENT),
            written=int(tags.get(rows.WRITTEN, 0)),
            current=tags.get("current") != "false",
            chosen=tags.get("chosen") == "true",
        )


class Table:
    """The rows of an experiment.

    Args:
        client: of the store.
        experiment_id: of the experiment.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: as in all methods, when MLflow can't be reached.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client, self.experiment_id = client, experiment_id
        self._provenance = run_provenance()
        self._rows: dict[Place, list[Row]] = {}
        for run in self._stored_runs():
            place = (run.data.tags.get("level", ""), run.data.tags.get("run_key", ""))
            self._rows.setdefault(place, []).append(Row.of(run))

    def at(self, place: Place) -> list[Row]:
        """The rows of that level and run key, the one that began first in front."""
        return self._rows.get(place, [])

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
        run = self.client.create_run(
            self.experiment_id,
            start_time=rows.milliseconds(started),
            tags={**self._provenance, **tags, **({"mlflow.parentRunId": parent} if parent else {})},
            run_name=name,
        )
        row = Row(run_id=run.info.run_id, parent=parent)
        self._rows.setdefault(place, []).append(row)
        return row

    def log(
        self, row: Row, metrics: Iterable[rows.MetricRow], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        """Params first and tags last, so that a tag which says what was written is true."""
        stream = (Metric(*metric) for metric in metrics)
        batch = list(itertools.islice(stream, BATCH))
        first = [Param(name, value) for name, value in params.items()]
        while len(batch) == BATCH:
            self.client.log_batch(row.run_id, batch, first)
            batch, first = list(itertools.islice(stream, BATCH)), []
        self.client.log_batch(row.run_id, batch, first, _tags(tags))

    def log_dataset(self, row: Row, name: str, digest: str, settings: str) -> None:
        """Say which data a row rests on, see `mlflow_pages.params.dataset`."""
        data = Dataset(name=name, digest=digest, source_type="setsweep", source=settings)
        self.client.log_inputs(row.run_id, datasets=[DatasetInput(data)])

    def move(self, row: Row, name: str, tags: Mapping[str, str], parent: str) -> None:
        """Show a row below another one, with the name and the tags that it has there."""
        self.client.log_batch(row.run_id, tags=_tags({**tags, "mlflow.parentRunId": parent}))
        self.client.update_run(row.run_id, name=name)
        row.parent = parent

    def reopen(self, row: Row) -> None:
        """RUNNING again, where it is not."""
        if row.status != "RUNNING":
            self.client.update_run(row.run_id, status="RUNNING")
            row.status = "RUNNING"

    def end(self, row: Row, status: str, end: int) -> None:
        """Whole, as all of it is written; `end` in milliseconds."""
        self.client.set_terminated(row.run_id, status, end)
        row.status, row.end = status, end

    def _stored_runs(self) -> Iterator[Run]:
        token = None
        while True:
            page = self.client.search_runs(
                [self.experiment_id], max_results=PAGE, order_by=["attributes.start_time"], page_token=token
            )
            yield from page
            if not (token := page.token):
                return


def _tags(tags: Mapping[str, str]) -> list[RunTag]:
    return [RunTag(name, value) for name, value in tags.items()]
