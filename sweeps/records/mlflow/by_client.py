"""Writes runs through MLflow's client, call by call: into servers, and into databases whose schema is not known."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

BATCH = 800  # metrics in one call; with params and tags MLflow takes 1000
PAGE = 500  # runs in memory at once while an experiment is read


class ByClient:
    """The runs of one experiment.

    Args:
        client: of the store.
        experiment_id: of the experiment.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: from all methods, when MLflow can't be reached.
    """

    batch = 1  # tasks of a recorder between two calls of `flush`

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self._client, self._experiment_id = client, experiment_id

    def create(self, name: str, tags: Mapping[str, str], start: int) -> str:
        """A new run, RUNNING since `start` (milliseconds); gives its id."""
        run = self._client.create_run(self._experiment_id, start_time=start, tags=dict(tags), run_name=name)
        return str(run.info.run_id)

    def log(
        self, run_id: str, metrics: Iterable[MetricRow], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        """Add metrics and params; tags take the place of those of their name.

        Params are written first and tags last, so that a tag which says what was written is true.
        """
        stream = (Metric(*metric) for metric in metrics)
        batch = list(itertools.islice(stream, BATCH))
        first = [Param(name, value) for name, value in params.items()]
        while len(batch) == BATCH:
            self._client.log_batch(run_id, batch, first)
            batch, first = list(itertools.islice(stream, BATCH)), []
        self._client.log_batch(run_id, batch, first, [RunTag(name, value) for name, value in tags.items()])

    def log_dataset(self, run_id: str, name: str, digest: str, settings: str) -> None:
        """Say which data a run rests on."""
        data = Dataset(name=name, digest=digest, source_type="setsweep", source=settings)
        self._client.log_inputs(run_id, datasets=[DatasetInput(data)])

    def rename(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        self._client.update_run(run_id, name=name)

    def set_status(self, run_id: str, status: str, end: int | None = None) -> None:
        """RUNNING again, or ended at `end` (milliseconds)."""
        if end is None:
            self._client.update_run(run_id, status=status)
        else:
            self._client.set_terminated(run_id, status, end)

    def flush(self) -> None:
        """Write what waits; here nothing does."""

    def stored(self, tags: Sequence[str]) -> Iterator[tuple[str, str, int | None, dict[str, str]]]:
        """The runs that there are, the one that began first in front: id, status, end, those of the tags it has."""
        token = None
        while True:
            page = self._client.search_runs(
                [self._experiment_id], max_results=PAGE, order_by=["attributes.start_time"], page_token=token
            )
            for run in page:
                has: Mapping[str, str] = run.data.tags
                own = {name: has[name] for name in tags if name in has}
                yield run.info.run_id, run.info.status, run.info.end_time, own
            if not (token := page.token):
                return

    def close(self) -> None:
        """Let go of the store."""
