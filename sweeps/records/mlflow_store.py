"""The MLflow experiment of one study: knows what is in it and adds what is missing.

A row of MLflow is known by its tags `level` and `run_key`, a run by its parent as well: where two arms ask for the same
training, both have it. A row is RUNNING until all of it is written; what is left RUNNING by a process that was killed
is written again, which changes nothing that is there already. Used by one thread.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Metric, Param, Run, RunTag
from PIL import Image

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow_experiment import open_experiment
from setsweep.sweeps.records.mlflow_pages import rows
from setsweep.sweeps.records.mlflow_pages.chosen import Chosen
from setsweep.sweeps.records.mlflow_pages.metrics import BAND
from setsweep.sweeps.records.mlflow_pages.page import PREVIEW, PREVIEW_WIDTH, Page
from setsweep.sweeps.records.mlflow_pages.params import dataset, params, run_params, study_params
from setsweep.sweeps.records.mlflow_pages.texts import reported_metrics
from setsweep.sweeps.records.mlflow_provenance import run_provenance, study_provenance
from setsweep.sweeps.records.mlflow_state import RECORDED
from setsweep.sweeps.reports.colours import colour
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at

BATCH = 800  # metrics in one call; with params and tags MLflow takes 1000
PAGE = 500  # runs in memory at once while an experiment is read
MAX_EXPERIMENT_NOTE = 20_000  # characters of an experiment tag, MLflow's limit
NO_REASON = {"reason": "", rows.NOTE: ""}


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
    chosen: bool = False

    @classmethod
    def of(cls, run: Run) -> _Row:
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


class MlflowStore:
    """Writes results into the experiment named like the study, each once.

    Args:
        study: whose results they are.
        tracking_uri: an MLflow server or database; None: MLflow's own default.
        owner: the folder whose study it is, see `mlflow_state.owner_of`.

    Attributes:
        experiment_id: of the study's experiment.

    Raises:
        MlflowException, OSError, sqlalchemy.exc.SQLAlchemyError: as in all methods, when MLflow can't be reached.
    """

    def __init__(self, study: Study, tracking_uri: str | None, owner: str = "") -> None:
        self._study = study
        self._client = MlflowClient(tracking_uri)
        self._provenance = run_provenance()
        self._colours = {arm: colour(index) for index, arm in enumerate(study.arms)}
        self._chosen = Chosen(study)
        self.experiment_id = open_experiment(self._client, study, owner)
        self._rows: dict[tuple[str, str], list[_Row]] = {}
        for run in self._stored_runs():
            place = (run.data.tags.get("level", ""), run.data.tags.get("run_key", ""))
            self._rows.setdefault(place, []).append(_Row.of(run))
        self._asked: set[str] = set()  # run ids of the aggregates that this process was given results of
        self._root = self._open_study_run()

    def write_run(self, planned: PlannedRun, result: RunResult) -> None:
        """Record one training below its aggregate, if it is not there already."""
        result = with_values_at(result, self._study.at_epochs)
        parent = self._aggregate(planned, result).run_id
        row = self._run_below(planned, parent)
        if row is None:
            tags = {**rows.run_tags(self._study, planned, result), **self._look(planned)}
            row = self._create(("run", planned.key), rows.run_name(planned), tags, result, parent)
        end = rows.milliseconds(result.finished)
        if row.status == "RUNNING" or row.end != end:
            again = {**NO_REASON, **rows.run_tags(self._study, planned, result)} if row.end is not None else {}
            self._log(row, rows.run_rows(result), run_params(planned), again)
            self._end(row, "FINISHED" if result.status == "done" else "FAILED", end)

    def write_aggregate(self, pairs: rows.Pairs, planned: int | None = None) -> None:
        """Record mean and interval of the runs of one configuration, if they have changed.

        Args:
            pairs: the runs that have a result.
            planned: how many there will be; None: that is all. It is RUNNING until then.
        """
        pairs = [(run, with_values_at(result, self._study.at_epochs)) for run, result in pairs]
        one, first = min(pairs, key=lambda pair: pair[1].started)
        row = self._aggregate(one, first)
        if one.stage == "search":
            self._chosen.saw(one, row.run_id)
        if row.content == rows.content(pairs, planned) and (row.status != "RUNNING" or planned is not None):
            return
        tags = rows.aggregate_content(self._study, pairs, planned, self._chosen.text(one))
        end = max(rows.milliseconds(result.finished) for _, result in pairs)
        moment = max(end, row.written + 2)
        confidence, expected = self._study.compare.confidence, reported_metrics(self._study, one.stage)
        metrics = rows.aggregate_rows(
            pairs, confidence=confidence, time=moment, expected=expected, pilot=self._study.pilot
        )
        self._log(row, metrics, params(one), {**tags, rows.WRITTEN: str(moment)})
        row.content, row.written = tags[rows.CONTENT], moment
        if one.stage == "confirm":
            self._mark_chosen(one)
        if planned is None:
            some_done = any(result.status == "done" for _, result in pairs)
            self._end(row, "FINISHED" if some_done else "FAILED", end)

    def write_model(self, planned: PlannedRun, folder: Path) -> None:
        """Log the model saved in `folder` as that of an aggregate and of the run that trained it, if it isn't yet."""
        from setsweep.sweeps.records.mlflow_model import ModelRecord, log_model  # needs torch, which records don't

        (aggregate,) = self._rows["aggregate", rows.group_key(planned)]
        run = self._run_below(planned, aggregate.run_id)
        assert run is not None
        record = ModelRecord(
            name=rows.aggregate_name(planned),
            tags={**rows.place_tags(planned), "run_key": planned.key, "seed": str(planned.seed)},
            params=params(planned),
            metrics=[f"{metric}/{part}" for metric in reported_metrics(self._study, planned.stage) for part in BAND],
            dataset=dataset(planned)[:2],
        )
        run_ids = [aggregate.run_id, run.run_id]
        log_model(self._client, folder, record, experiment_id=self.experiment_id, run_ids=run_ids)

    def write_page(self, page: Page) -> None:
        """Bring the study's own page up to date: descriptions and numbers."""
        run_id = self._root.run_id
        of_run, of_experiment = (
            page.text(self._study, self.experiment_id, run_id, limit)
            for limit in (rows.MAX_DESCRIPTION, MAX_EXPERIMENT_NOTE)
        )
        content = rows.digest([of_experiment, dict(page.metrics)])
        if content != self._root.content:
            now = rows.milliseconds(time.time())
            metrics = [rows.MetricRow(name, value, now, 0) for name, value in page.metrics.items()]
            self._client.set_experiment_tag(self.experiment_id, rows.NOTE, of_experiment)
            self._log(self._root, metrics, {}, {rows.NOTE: of_run, rows.CONTENT: content})
            self._root.content = content

    def write_study(
        self, report: str, files: Sequence[Path], status: str, page: Page | None = None, state: str = ""
    ) -> None:
        """Record tables, figures and the study file, and end whatever is still open.

        Args:
            report: the tables, in Markdown.
            files: figures and other files, or folders of them.
            status: how the study ended.
            page: what its page says; None: the tables alone, on its run.
            state: names all that was recorded; "" where something is missing.
        """
        run_id = self._root.run_id
        if page is None:
            self._client.set_tag(run_id, rows.NOTE, rows.shorten(report, rows.MAX_DESCRIPTION))
        else:
            self.write_page(page)
            if page.figure is not None:
                self._log_preview(page.figure)
        self._client.log_text(run_id, report, "report.md")
        self._client.log_text(run_id, self._study.text, "study.yaml")
        for path in files:
            self._client.log_artifact(run_id, str(path))
        if status != "KILLED":
            self._mark_current()
        now = rows.milliseconds(time.time())
        for row in itertools.chain.from_iterable(self._rows.values()):
            if row.status == "RUNNING" and row is not self._root:
                self._end(row, "KILLED", now)
        self._end(self._root, status, now)
        if state:
            self._client.set_experiment_tag(self.experiment_id, RECORDED, state)

    def _log_preview(self, figure: Path) -> None:
        """The figure in the size in which the page shows it."""
        with tempfile.TemporaryDirectory() as folder, Image.open(figure) as picture:
            picture.thumbnail((PREVIEW_WIDTH, PREVIEW_WIDTH))
            picture.save(Path(folder) / PREVIEW)
            self._client.log_artifact(self._root.run_id, str(Path(folder) / PREVIEW))

    def _stored_runs(self) -> Iterator[Run]:
        token = None
        while True:
            page = self._client.search_runs(
                [self.experiment_id], max_results=PAGE, order_by=["attributes.start_time"], page_token=token
            )
            yield from page
            if not (token := page.token):
                return

    def _open_study_run(self) -> _Row:
        place = ("study", self._study.name)
        if found := self._rows.get(place):
            row = found[0]
            if row.status != "RUNNING":
                self._client.update_run(row.run_id, status="RUNNING")
                row.status = "RUNNING"
            return row
        tags = {"level": "study", "run_key": self._study.name, rows.NOTE: self._study.about}
        row = self._create(place, self._study.name, {**tags, **study_provenance(self._study)}, None, None)
        self._log(row, (), study_params(self._study), {})
        return row

    def _aggregate(self, planned: PlannedRun, result: RunResult) -> _Row:
        """The aggregate of a run; created, and open until its metrics are written, if this is its first run."""
        place = ("aggregate", rows.group_key(planned))
        if found := self._rows.get(place):
            row = found[0]
        else:
            tags = {**rows.aggregate_tags(planned), **self._look(planned)}
            row = self._create(place, rows.aggregate_name(planned), tags, result, self._root.run_id)
            name, digest, settings = dataset(planned)
            data = Dataset(name=name, digest=digest, source_type="setsweep", source=settings)
            self._client.log_inputs(row.run_id, datasets=[DatasetInput(data)])
        self._asked.add(row.run_id)
        return row

    def _run_below(self, planned: PlannedRun, parent: str) -> _Row | None:
        """The row of a run below its aggregate; moved here from one that is no longer asked for, where there is one."""
        found = self._rows.get(("run", planned.key), [])
        for row in found:
            if row.parent == parent:
                return row
        for row in found:
            if row.parent not in self._asked:
                self._adopt(row, planned, parent)
                return row
        return None

    def _create(
        self, place: tuple[str, str], name: str, tags: Mapping[str, str], result: RunResult | None, parent: str | None
    ) -> _Row:
        run = self._client.create_run(
            self.experiment_id,
            start_time=rows.milliseconds(result.started if result else time.time()),
            tags={**self._provenance, **tags, **({"mlflow.parentRunId": parent} if parent else {})},
            run_name=name,
        )
        row = _Row(run_id=run.info.run_id, parent=parent)
        self._rows.setdefault(place, []).append(row)
        return row

    def _look(self, planned: PlannedRun) -> dict[str, str]:
        """The colour of the arm, the one that it has in figures."""
        return {"mlflow.runColor": self._colours[planned.arm]} if planned.arm in self._colours else {}

    def _adopt(self, row: _Row, planned: PlannedRun, parent: str) -> None:
        tags = {**rows.place_tags(planned), **self._look(planned), "mlflow.parentRunId": parent}
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

    def _mark_chosen(self, confirmed: PlannedRun) -> None:
        """Tag the trial whose configuration is confirmed."""
        trial = self._chosen.trial(confirmed)
        for row in itertools.chain.from_iterable(self._rows.values()):
            if row.run_id == trial and not row.chosen:
                self._client.set_tag(row.run_id, "chosen", "true")
                row.chosen = True

    def _mark_current(self) -> None:
        """Tag the aggregates that an earlier form of the study asked for, so that a view can leave them out."""
        for (level, _), found in self._rows.items():
            for row in found if level == "aggregate" else ():
                asked = row.run_id in self._asked
                if row.current != asked:
                    self._client.set_tag(row.run_id, "current", "true" if asked else "false")
                    row.current = asked
