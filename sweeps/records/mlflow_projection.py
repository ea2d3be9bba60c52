"""Keeps MLflow in step with a sweep: every result once, every aggregate when it is whole, the report at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow.quiet import keep_quiet
from setsweep.sweeps.records.mlflow.state import owner_of, recorded_experiment, state_of
from setsweep.sweeps.records.mlflow_address import (
    RECORDED,
    check_answers,
    recorded_address,
    server,
    store_uri,
    ui_command,
    view_path,
    without_password,
)
from setsweep.sweeps.records.mlflow_pages.page import build_page
from setsweep.sweeps.records.mlflow_pages.rows import run_name
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.records.remote.working_copy import bring
from setsweep.sweeps.records.running import Evaluation, Shown
from setsweep.sweeps.records.study_folder import model_folder
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

FIRST_SHOWN, SHOW_SECONDS = 5.0, 30.0  # until a study that runs is shown, and from one time to the next
SHOW_SHARE = 0.01  # of the time at most goes into that


class Projection:
    """The MLflow side of one sweep. A study that is recorded already, to the last run, is left alone.

    Args:
        study, planner: what is recorded; the results that the planner knows are recorded first.
        folder: of the study; ``recorded.json`` in it says where MLflow shows it.
        tracking_uri: an MLflow server or database; None: MLflow's own default.

    Raises:
        ValueError: a URI of a kind that MLflow has no store for; on entering, a server that does not let this user in,
            or does not answer while there is something to train.

    Attributes:
        begun: whether MLflow has been told of the study.
        complete: whether all that was to be recorded is.
        on_problem: called with what keeps results from being recorded, "" while all is well.
    """

    def __init__(self, study: Study, planner: Planner, folder: Path, *, tracking_uri: str | None) -> None:
        self._study, self._planner, self._folder = study, planner, folder
        self._given, self._uri = tracking_uri, store_uri(tracking_uri)
        self._mark = folder / RECORDED
        self._owner = owner_of(folder)
        self._recorder: MlflowRecorder | None = None
        self._running: dict[str, Shown] = {}  # by run key
        self._touched: set[str] = set()  # run keys with a result since the study was shown
        self._next = time.monotonic() + FIRST_SHOWN
        self.begun = False
        self.complete = True
        self.on_problem: Callable[[str], None] = lambda problem: None

    def __enter__(self) -> Self:
        if self._planner.done < self._planner.total or not self._is_recorded():
            self._recorder = MlflowRecorder(self._study, tracking_uri=self._given, owner=self._owner)
            if self._uri.startswith(("http://", "https://")):
                if self._planner.done < self._planner.total:
                    check_answers(self._uri)
                keep_quiet()
                from setsweep.sweeps.records.mlflow.experiment import check_access

                check_access(self._uri, self._study, self._owner)
            self._catch_up(self._recorder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._recorder is not None and self.begun and kind is not None:
            self._recorder.close(patience=5.0, working=5.0)

    @property
    def up_to_date(self) -> bool:
        """Whether all was recorded before this sweep began, tables and figures included."""
        return self._recorder is None

    def started(self, run: PlannedRun) -> None:
        """It is shown the next time that anything is."""
        self._running[run.key] = Shown(run=run, began=time.time())

    def news(self, moments: Sequence[Moment]) -> None:
        """What running runs have come to, kept until they are shown."""
        now = time.time()
        for moment in moments:
            if moment.key in self._running:
                evaluation = Evaluation(epoch=moment.epoch, metrics=moment.metrics, time=now)
                self._running[moment.key].waiting.append(evaluation)

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """Record a result wherever the study has a place for it, and the aggregates that are whole with it."""
        self._running.pop(run.key, None)
        if self._recorder is None:
            return
        self._begin(self._recorder)
        self._touched.add(run.key)
        for asked in self._planner.runs_of(run.key):
            self._recorder.record(asked, result)
            if (group := self._planner.group_of(asked)) is not None:
                self._recorder.group(group)

    def tick(self) -> None:
        """Pass on what keeps results from being recorded; now and then show how far the study is."""
        problem = self._recorder.problem if self._recorder else None
        self.on_problem(f"MLflow: {problem}" if problem else "")
        something = self.begun or any(each.waiting for each in self._running.values())
        if self._recorder is not None and something and time.monotonic() >= self._next and not self._recorder.pending:
            began = time.monotonic()
            self._begin(self._recorder)
            self._show_so_far(self._recorder)
            spent = time.monotonic() - began
            self._next = began + max(SHOW_SECONDS, spent / SHOW_SHARE)

    def _show_so_far(self, recorder: MlflowRecorder) -> None:
        """The runs that are trained now, the configurations that have some of their seeds, and the study's page."""
        runs = self._planner.runs()
        groups: dict[Candidate, list[tuple[PlannedRun, RunResult | None]]] = {}
        for run, result in runs:
            groups.setdefault(run.candidate, []).append((run, result))
        for members in groups.values():
            done = [(run, result) for run, result in members if result is not None]
            if 0 < len(done) < len(members) and any(run.key in self._touched for run, _ in done):
                recorder.group(done, len(members))
        self._touched.clear()
        for each in self._running.values():
            evaluations = each.take()
            for asked in self._planner.runs_of(each.run.key):
                recorder.running(asked, evaluations, each.began, len(groups[asked.candidate]))
        report = build_report(self._study, runs, total=self._planner.total)
        recorder.page(build_page(report, running=[run_name(each.run) for each in self._running.values()]))

    def flush(self) -> bool:
        """Wait until every result so far is in MLflow; whether it is."""
        return self._recorder is None or self._recorder.flush()

    def finish(self, report: Report, files: Sequence[Path], *, stopped: bool) -> None:
        """Record tables, figures and models, and wait until all is written."""
        if self._recorder is None:
            return
        self._begin(self._recorder)
        status: Literal["FINISHED", "KILLED"] = "KILLED" if stopped else "FINISHED"
        self._recorder.finish(
            render(report, "markdown"),
            files,
            status=status,
            models=self._models(),
            page=build_page(report, files),
            state="" if stopped else self._state(),
        )
        self.complete = self._recorder.close()
        if self._recorder.experiment_id is not None:
            self._keep_address(self._recorder.experiment_id)

    def outcome(self) -> str:
        """Where the records are, or what is missing and why, in one line."""
        where = self._command or without_password(self._uri)
        if self.complete:
            return where
        assert self._recorder is not None
        return (
            f"{self._recorder.pending} records are not in {where} ({self._recorder.problem or 'not answering'}); "
            "they are kept, and the same command brings them"
        )

    @property
    def address(self) -> str | None:
        """Where the study's results are in the MLflow UI; None: MLflow has not answered yet."""
        return recorded_address(self._folder)

    @property
    def _command(self) -> str:
        return ui_command(self._study.name, self._given)

    def _catch_up(self, recorder: MlflowRecorder) -> None:
        """Record what is known, each run and each group once."""
        known = [(run, result) for run, result in self._planner.runs() if result is not None]
        if not known:
            return
        self._begin(recorder)
        groups: set[Candidate] = set()
        for run, result in known:
            recorder.record(run, result)
            if run.candidate not in groups and (group := self._planner.group_of(run)) is not None:
                groups.add(run.candidate)
                recorder.group(group)

    def _begin(self, recorder: MlflowRecorder) -> None:
        """With the first result or evaluation: until then the cores belong to the workers that start."""
        if not self.begun:
            self.begun = True
            recorder.start()

    def _models(self) -> list[tuple[PlannedRun, Path]]:
        """The kept model of each chosen configuration."""
        bring(self._folder, "models")
        first = self._study.confirm_seeds[0]
        runs = [run for run, result in self._planner.runs() if run.stage == "confirm" and run.seed == first and result]
        folders = [(run, model_folder(self._folder, run)) for run in runs]
        return [(run, folder) for run, folder in folders if (folder / "model.pt").exists()]

    def _state(self) -> str:
        return state_of(self._study, self._planner.results, self._owner)

    def _is_recorded(self) -> bool:
        """Whether the store has all of the study."""
        keep_quiet()
        experiment = recorded_experiment(self._uri, self._state())
        if experiment is not None:
            self._keep_address(experiment)
        return experiment is not None

    def _keep_address(self, experiment: str) -> None:
        """For those who ask later without asking the store."""
        text = json.dumps({"address": server(self._uri) + view_path(experiment)})
        if not self._mark.exists() or self._mark.read_text(encoding="utf-8") != text:
            self._mark.write_text(text, encoding="utf-8")
