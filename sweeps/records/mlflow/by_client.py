"""Writes runs through MLflow's client, call by call: into servers, and into databases whose schema is not known.

A call to a server is mostly waiting for it. Of a run they are made in their order, of several runs side by side: they
are kept until `flush`, but for that which creates a run, whose id the others need.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

from setsweep.sweeps.records.mlflow.client import is_refusal
from setsweep.sweeps.records.mlflow_pages.rows import MetricRow

BATCH = 800  # metrics in one call; with params and tags MLflow takes 1000
AT_ONCE = 8  # runs whose calls are made side by side
TASKS = 64  # of a recorder, of which each is a run or an aggregate
PAGE = 500  # runs in memory at once while an experiment is read


class ByClient:
    """The runs of one experiment.

    Args:
        client: of the store.
        experiment_id: of the experiment.

    Attributes:
        batch: tasks of a recorder between two calls of `flush`.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: from all methods, when MLflow can't be reached; from
            `flush`, what it refuses, too.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self._client, self._experiment_id = client, experiment_id
        self._waits = client.tracking_uri.startswith(("http://", "https://"))
        self.batch = TASKS if self._waits else 1
        self._waiting: dict[str, deque[Callable[[], object]]] = {}  # the calls to come, by run

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
            self._call(run_id, partial(self._client.log_batch, run_id, batch, first))
            batch, first = list(itertools.islice(stream, BATCH)), []
        last = [RunTag(name, value) for name, value in tags.items()]
        self._call(run_id, partial(self._client.log_batch, run_id, batch, first, last))

    def log_dataset(self, run_id: str, name: str, digest: str, settings: str) -> None:
        """Say which data a run rests on."""
        data = Dataset(name=name, digest=digest, source_type="setsweep", source=settings)
        self._call(run_id, partial(self._client.log_inputs, run_id, datasets=[DatasetInput(data)]))

    def rename(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        self._call(run_id, partial(self._client.update_run, run_id, name=name))

    def set_status(self, run_id: str, status: str, end: int | None = None) -> None:
        """RUNNING again, or ended at `end` (milliseconds)."""
        if end is None:
            self._call(run_id, partial(self._client.update_run, run_id, status=status))
        else:
            self._call(run_id, partial(self._client.set_terminated, run_id, status, end))

    def flush(self) -> None:
        """Write what waits; what is refused is left out and told, what could not be sent is kept."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        away = threading.Event()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            errors = [error for error in threads.map(partial(_work_off, away=away), waiting.values()) if error]
        self._waiting = {run_id: calls for run_id, calls in waiting.items() if calls}
        if errors:
            raise next((error for error in errors if not is_refusal(error)), errors[0])

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

    def _call(self, run_id: str, call: Callable[[], object]) -> None:
        if self._waits:
            self._waiting.setdefault(run_id, deque()).append(call)
        else:
            call()


def _work_off(calls: deque[Callable[[], object]], *, away: threading.Event) -> Exception | None:
    """Make the calls of a run, each of which may be repeated; gives what one of them raises.

    Args:
        calls: what has been done leaves it; all of them do where one is refused.
        away: set where the server is, so that no other run tries in vain.
    """
    while calls and not away.is_set():
        try:
            calls[0]()
        except Exception as error:  # noqa: BLE001 - whatever it is, the recorder tries again or tells it
            if is_refusal(error):
                calls.clear()
            else:
                away.set()
            return error
        calls.popleft()
    return None
