"""The MLflow experiment of one study: knows what is in it and adds what is missing.

What is left RUNNING by a process that was killed is written again, which changes nothing that is there already. Used by
one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow.experiment import open_experiment
from setsweep.sweeps.records.mlflow.guard import Guard
from setsweep.sweeps.records.mlflow.study_run import StudyRun
from setsweep.sweeps.records.mlflow.table import Row, Table
from setsweep.sweeps.records.mlflow_pages import rows
from setsweep.sweeps.records.mlflow_pages.chosen import Chosen
from setsweep.sweeps.records.mlflow_pages.metrics import BAND, curve_metrics, recorded
from setsweep.sweeps.records.mlflow_pages.page import Page
from setsweep.sweeps.records.mlflow_pages.params import dataset, params, run_params
from setsweep.sweeps.records.mlflow_pages.texts import reported_metrics
from setsweep.sweeps.records.running import Evaluation
from setsweep.sweeps.reports.colours import colour
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at

NO_REASON = {"reason": "", rows.NOTE: ""}


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The seeds of a configuration: the run key of their aggregate, and the params that they have in common."""

    key: str
    params: Mapping[str, str]


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
        self._colours = {arm: colour(index) for index, arm in enumerate(study.arms)}
        self._curves = frozenset(curve_metrics(study))
        self._chosen = Chosen(study)
        client = MlflowClient(tracking_uri)
        self.experiment_id = open_experiment(client, study, owner)
        self._table = Table(client, self.experiment_id)
        self._groups: dict[Candidate, _Group] = {}
        self._asked: set[str] = set()  # run ids of the aggregates that this process was given results of
        self._study_run = StudyRun(study, self._table)
        self._ended = False

    def write_run(self, planned: PlannedRun, result: RunResult) -> None:
        """Record one training below its aggregate, if it is not there already."""
        result = self._recorded(result)
        parent = self._aggregate(planned, result.started).run_id
        row = self._run_below(planned, parent)
        if row is None:
            tags = {**rows.run_tags(self._study, planned, result), **self._look(planned)}
            row = self._table.create(("run", planned.key), rows.run_name(planned), tags, result.started, parent)
        end = rows.milliseconds(result.finished)
        if row.status == "RUNNING" or row.end != end:
            again = rows.run_tags(self._study, planned, result) if row.end is not None or row.live else {}
            again = {**NO_REASON, **again} if row.end is not None else again
            again |= {rows.LIVE: "false"} if row.live else {}
            shown = row.shown or ()
            new = (each for each in rows.run_rows(result) if (each.name, each.step) not in shown or each.time == end)
            self._table.log(row, new, run_params(self._group(planned).params, planned), again)
            row.live = False
            self._table.end(row, "FINISHED" if result.status == "done" else "FAILED", end)

    def write_aggregate(self, pairs: rows.Pairs, planned: int | None = None) -> None:
        """Record mean and interval of the runs of one configuration, if they have changed.

        Args:
            pairs: the runs that have a result.
            planned: how many there will be; None: that is all. It is RUNNING until then.
        """
        pairs = [(run, self._recorded(result)) for run, result in pairs]
        one, first = min(pairs, key=lambda pair: pair[1].started)
        row = self._aggregate(one, first.started)
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
        self._table.log(row, metrics, self._group(one).params, {**tags, rows.WRITTEN: str(moment)})
        row.content, row.written = tags[rows.CONTENT], moment
        if one.stage == "confirm":
            self._mark_chosen(one)
        if planned is None:
            some_done = any(result.status == "done" for _, result in pairs)
            self._table.end(row, "FINISHED" if some_done else "FAILED", end)

    def write_running(self, planned: PlannedRun, evaluations: Sequence[Evaluation], began: float, seeds: int) -> None:
        """Show a run that is being trained, with its curves so far.

        Args:
            planned: the run.
            evaluations: what it has come to since it was shown last.
            began: when, Unix time.
            seeds: how many its aggregate will have.
        """
        place = ("aggregate", self._group(planned).key)
        if not self._table.at(place):
            self._create_aggregate(planned, began, rows.waiting_tags(self._study, planned, seeds))
        parent = self._aggregate(planned, began).run_id
        row = self._run_below(planned, parent)
        if row is None:
            tags = {**rows.running_tags(planned), **self._look(planned)}
            row = self._table.create(("run", planned.key), rows.run_name(planned), tags, began, parent)
            self._table.log(row, (), run_params(self._group(planned).params, planned), {})
            row.live, row.shown = True, set()
        if not row.live or row.shown is None:
            return  # one that is trained again: it has its result until it has another one
        new = [
            rows.MetricRow(name, value, rows.milliseconds(each.time), each.epoch)
            for each in evaluations
            for name, value in each.metrics.items()
            if name in self._curves and (name, each.epoch) not in row.shown
        ]
        self._table.log(row, new, {}, {})
        row.shown |= {(each.name, each.step) for each in new}

    def write_model(self, planned: PlannedRun, folder: Path) -> None:
        """Log the model saved in `folder` as that of an aggregate and of the run that trained it, if it isn't yet."""
        from setsweep.sweeps.records.mlflow.model import ModelRecord, log_model  # needs torch, which records don't

        (aggregate,) = self._table.at(("aggregate", self._group(planned).key))
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
        log_model(self._table.client, folder, record, experiment_id=self.experiment_id, run_ids=run_ids)

    def write_page(self, page: Page) -> None:
        """Bring the study's own page up to date: descriptions and numbers."""
        self._study_run.write_page(page)

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
        self._study_run.write_report(report, files, page)
        if status != "KILLED":
            self._mark_current()
        self._study_run.end(status, state)
        self._ended = True

    @property
    def batch(self) -> int:
        """After how many results `flush` pays."""
        return self._table.batch

    def flush(self) -> None:
        """Write what waits to be written with others."""
        self._table.flush()

    def guard(self) -> Guard:
        """Who ends what is RUNNING if this process is killed."""
        self.flush()
        return Guard(self._table.client.tracking_uri, self._study_run.run_id)

    def close(self) -> None:
        """Let go of MLflow; a study that has not ended by then is one that was killed."""
        if not self._ended:
            self._study_run.end("KILLED", "")
        self._table.close()

    def _recorded(self, result: RunResult) -> RunResult:
        """A result as MLflow has it: values at other metrics' epochs among its own, see `recorded`."""
        return recorded(with_values_at(result, self._study.at_epochs), self._curves)

    def _group(self, planned: PlannedRun) -> _Group:
        """What its seeds have in common; worked out once, as a study has thousands of runs."""
        if planned.candidate not in self._groups:
            self._groups[planned.candidate] = _Group(key=rows.group_key(planned), params=params(planned))
        return self._groups[planned.candidate]

    def _aggregate(self, planned: PlannedRun, began: float) -> Row:
        """The aggregate of a run; created, and open until its metrics are written, if this is its first run."""
        found = self._table.at(("aggregate", self._group(planned).key))
        row = found[0] if found else self._create_aggregate(planned, began, rows.aggregate_tags(planned))
        self._asked.add(row.run_id)
        return row

    def _create_aggregate(self, planned: PlannedRun, began: float, tags: Mapping[str, str]) -> Row:
        place = ("aggregate", self._group(planned).key)
        name, all_tags = rows.aggregate_name(planned), {**tags, **self._look(planned)}
        row = self._table.create(place, name, all_tags, began, self._study_run.run_id)
        self._table.log_dataset(row, *dataset(planned))
        return row

    def _run_below(self, planned: PlannedRun, parent: str) -> Row | None:
        """The row of a run below its aggregate; moved here from one that is no longer asked for, where there is one."""
        place = ("run", planned.key)
        for row in [row for row in self._table.at(place) if row.live and row.shown is None]:
            self._table.drop(place, row)  # shown by a session that was stopped; its curves begin anew
        found = self._table.at(place)
        for row in found:
            if row.parent == parent:
                return row
        for row in found:
            if row.parent not in self._asked:
                tags = {**rows.place_tags(planned), **self._look(planned)}
                self._table.move(row, rows.run_name(planned), tags, parent)
                return row
        return None

    def _look(self, planned: PlannedRun) -> dict[str, str]:
        """The colour of the arm, the one that it has in figures."""
        return {"mlflow.runColor": self._colours[planned.arm]} if planned.arm in self._colours else {}

    def _mark_chosen(self, confirmed: PlannedRun) -> None:
        """Tag the trial whose configuration is confirmed."""
        trial = self._chosen.trial(confirmed)
        if trial is not None and not (row := self._table.row(trial)).chosen:
            self._table.log(row, (), {}, {"chosen": "true"})
            row.chosen = True

    def _mark_current(self) -> None:
        """Tag the aggregates that an earlier form of the study asked for, so that a view can leave them out."""
        for level, row in self._table.all():
            asked = row.run_id in self._asked
            if level == "aggregate" and row.current != asked:
                self._table.log(row, (), {}, {"current": "true" if asked else "false"})
                row.current = asked
