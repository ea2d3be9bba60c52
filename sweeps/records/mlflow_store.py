"""The MLflow experiment of one study: knows what is in it and adds what is missing.

A row of MLflow is known by its tags `level` and `run_key`. It is RUNNING until all of it is written; what is left
RUNNING by a process that was killed is written again, which changes nothing that is there already. Used by one thread.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records import mlflow_rows as rows
from setsweep.sweeps.records.mlflow_view import experiment_note, experiment_tags, reported_metrics
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at

BATCH = 800  # metrics in one call; with params and tags MLflow takes 1000
PAGE = 500  # runs in memory at once while an experiment is read
MAX_EXPERIMENT_NOTE = 20_000  # characters of an experiment tag, MLflow's limit
SOURCE = {"mlflow.source.name": "setsweep", "mlflow.source.type": "LOCAL"}
NO_REASON = {"reason": "", "mlflow.note.content": ""}

REFUSALS = {
    "BAD_REQUEST",
    "INVALID_PARAMETER_VALUE",
    "INVALID_STATE",
    "RESOURCE_ALREADY_EXISTS",
    "RESOURCE_DOES_NOT_EXIST",
}


def is_refusal(error: Exception) -> bool:
    """Whether the error would come again however often the same thing is tried; else MLflow is just away."""
    if isinstance(error, MlflowException):
        return error.error_code in REFUSALS
    return not isinstance(error, OSError | SQLAlchemyError) or isinstance(error, FileNotFoundError)


@dataclass
class _Row:
    """What is known of a run in MLflow: just enough to see whether it is complete."""

    run_id: str
    parent: str | None
    status: str = "RUNNING"
    end: int | None = None
    content: str | None = None
    written: int = 0
    current: bool = True

    @classmethod
    def of(cls, run: Run) -> _Row:
        tags: Mapping[str, str] = run.data.tags
        return cls(
            run_id=run.info.run_id,
            parent=tags.get("mlflow.parentRunId"),
            status=run.info.status,
            end=run.info.end_time,
            content=tags.get("content"),
            written=int(tags.get("written", 0)),
            current=tags.get("current") != "false",
        )


class MlflowStore:
    """Writes results into the experiment named like the study, each once.

    Args:
        study: whose results they are.
        tracking_uri: an MLflow server or database; None: MLflow's own default.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: as in all methods, when MLflow can't be reached.
    """

    def __init__(self, study: Study, tracking_uri: str | None) -> None:
        self._study = study
        self._client = MlflowClient(tracking_uri)
        self._experiment = self._open_experiment()
        self._rows: dict[tuple[str, str], _Row] = {}
        for run in self._stored_runs():
            place = (run.data.tags.get("level", ""), run.data.tags.get("run_key", ""))
            self._rows.setdefault(place, _Row.of(run))
        self._asked: set[str] = set()  # run ids of the aggregates that this process was given results of
        self._root = self._open_study_run()

    def write_run(self, planned: PlannedRun, result: RunResult) -> None:
        """Record one training below its aggregate, if it is not there already."""
        result = with_values_at(result, self._study.at_epochs)
        parent = self._aggregate(planned, result).run_id
        row = self._rows.get(("run", planned.key))
        if row is None:
            row = self._create(
                ("run", planned.key), rows.run_name(planned), rows.run_tags(planned, result), result, parent
            )
        elif row.parent not in self._asked:
            self._adopt(row, planned, parent)
        end = rows.milliseconds(result.finished)
        if row.status == "RUNNING" or row.end != end:
            again = {**NO_REASON, **rows.run_tags(planned, result)} if row.end is not None else {}
            self._log(row, rows.run_rows(result), rows.params(planned), again)
            self._end(row, "FINISHED" if result.status == "done" else "FAILED", end)

    def write_aggregate(self, pairs: rows.Pairs) -> None:
        """Record mean and interval of the runs of one configuration, if they have changed."""
        pairs = [(run, with_values_at(result, self._study.at_epochs)) for run, result in pairs]
        planned, first = min(pairs, key=lambda pair: pair[1].started)
        row = self._aggregate(planned, first)
        tags = rows.content_tags(pairs)
        if row.status != "RUNNING" and row.content == tags["content"]:
            return
        end = max(rows.milliseconds(result.finished) for _, result in pairs)
        moment = max(end, row.written + 2)
        metrics = rows.aggregate_rows(
            pairs,
            confidence=self._study.compare.confidence,
            time=moment,
            expected=reported_metrics(self._study, planned.stage),
            pilot=self._study.pilot,
        )
        self._log(row, metrics, rows.params(planned), {**tags, "written": str(moment)})
        row.content, row.written = tags["content"], moment
        some_done = any(result.status == "done" for _, result in pairs)
        self._end(row, "FINISHED" if some_done else "FAILED", end)

    def write_model(self, planned: PlannedRun, folder: Path) -> None:
        """Log the model saved in `folder` as that of an aggregate and of the run that trained it, if it isn't yet."""
        from setsweep.sweeps.records.mlflow_model import log_model  # needs torch, which records don't

        owners = [self._rows[place] for place in (("aggregate", rows.group_key(planned)), ("run", planned.key))]
        log_model(
            self._client,
            folder,
            experiment_id=self._experiment,
            name=rows.aggregate_name(planned),
            tags={**rows.place_tags(planned), "run_key": planned.key, "seed": str(planned.seed)},
            params=rows.params(planned),
            run_ids=[row.run_id for row in owners],
        )

    def write_study(self, report: str, files: Sequence[Path], status: str) -> None:
        """Record tables, figures and the study file, and end whatever is still open."""
        run_id = self._root.run_id
        self._client.set_tag(run_id, "mlflow.note.content", rows.shorten(report, rows.MAX_DESCRIPTION))
        note = experiment_note(self._study, self._experiment, report)
        self._client.set_experiment_tag(
            self._experiment, "mlflow.note.content", rows.shorten(note, MAX_EXPERIMENT_NOTE)
        )
        self._client.log_text(run_id, report, "report.md")
        self._client.log_text(run_id, self._study.text, "study.yaml")
        for path in files:
            self._client.log_artifact(run_id, str(path))
        if status != "KILLED":
            self._mark_current()
        now = rows.milliseconds(time.time())
        for row in self._rows.values():
            if row.status == "RUNNING" and row is not self._root:
                self._end(row, "KILLED", now)
        self._end(self._root, status, now)

    def _open_experiment(self) -> str:
        tags = experiment_tags(self._study)
        found = self._client.get_experiment_by_name(self._study.name)
        if found is None:
            created: str = self._client.create_experiment(self._study.name, tags=tags)
            return created
        if found.lifecycle_stage == "deleted":
            self._client.restore_experiment(found.experiment_id)
        for name, value in tags.items():
            if found.tags.get(name) != value:
                self._client.set_experiment_tag(found.experiment_id, name, value)
        return str(found.experiment_id)

    def _stored_runs(self) -> Iterator[Run]:
        token = None
        while True:
            page = self._client.search_runs(
                [self._experiment], max_results=PAGE, order_by=["attributes.start_time"], page_token=token
            )
            yield from page
            if not (token := page.token):
                return

    def _open_study_run(self) -> _Row:
        place = ("study", self._study.name)
        if row := self._rows.get(place):
            if row.status != "RUNNING":
                self._client.update_run(row.run_id, status="RUNNING")
                row.status = "RUNNING"
            return row
        tags = {"level": "study", "run_key": self._study.name, "mlflow.note.content": self._study.about}
        return self._create(place, self._study.name, tags, None, None)

    def _aggregate(self, planned: PlannedRun, result: RunResult) -> _Row:
        """The aggregate of a run; created, and open until its metrics are written, if this is its first run."""
        place = ("aggregate", rows.group_key(planned))
        row = self._rows.get(place) or self._create(
            place, rows.aggregate_name(planned), rows.aggregate_tags(planned), result, self._root.run_id
        )
        self._asked.add(row.run_id)
        return row

    def _create(
        self, place: tuple[str, str], name: str, tags: Mapping[str, str], result: RunResult | None, parent: str | None
    ) -> _Row:
        run = self._client.create_run(
            self._experiment,
            start_time=rows.milliseconds(result.started if result else time.time()),
            tags={**SOURCE, **tags, **({"mlflow.parentRunId": parent} if parent else {})},
            run_name=name,
        )
        self._rows[place] = _Row(run_id=run.info.run_id, parent=parent)
        return self._rows[place]

    def _adopt(self, row: _Row, planned: PlannedRun, parent: str) -> None:
        """Move a run here from an aggregate that the study no longer asks for (its arm has another name, say)."""
        tags = {**rows.place_tags(planned), "mlflow.parentRunId": parent}
        self._client.log_batch(row.run_id, tags=[RunTag(name, value) for name, value in tags.items()])
        self._client.update_run(row.run_id, name=rows.run_name(planned))
        row.parent = parent

    def _log(
        self, row: _Row, metrics: Iterable[rows.MetricRow], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        """Params first and tags last, so that a tag which says what was written is true."""
        stream = (Metric(*metric) for metric in metrics)
        batch = list(itertools.islice(stream, BATCH))
        first = [Param(name, value) for name, value in params.items()]
        while len(batch) == BATCH:
            self._client.log_batch(row.run_id, batch, first)
            batch, first = list(itertools.islice(stream, BATCH)), []
        self._client.log_batch(row.run_id, batch, first, [RunTag(name, value) for name, value in tags.items()])

    def _end(self, row: _Row, status: str, end: int) -> None:
        self._client.set_terminated(row.run_id, status, end)
        row.status, row.end = status, end

    def _mark_current(self) -> None:
        """Tag the aggregates that an earlier form of the study asked for, so that a view can leave them out."""
        for (level, _), row in self._rows.items():
            asked = row.run_id in self._asked
            if level == "aggregate" and row.current != asked:
                self._client.set_tag(row.run_id, "current", "true" if asked else "false")
                row.current = asked
