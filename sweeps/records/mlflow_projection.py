"""Keeps MLflow in step with a sweep: every result once, every aggregate when it is whole, the report at the end."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.records.study_folder import model_folder
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult


class Projection:
    """The MLflow side of one sweep. A study that is recorded already, to the last run, is left alone.

    Args:
        study, planner: what is recorded; the results that the planner knows are recorded first.
        folder: of the study; ``recorded.json`` in it says what MLflow has.
        tracking_uri: an MLflow server or database; None: MLflow's own default.

    Attributes:
        begun: whether MLflow has been told of the study.
        on_problem: called with what keeps results from being recorded, "" while all is well.
    """

    def __init__(self, study: Study, planner: Planner, folder: Path, *, tracking_uri: str | None) -> None:
        self._study, self._planner, self._folder = study, planner, folder
        self._uri = tracking_uri
        self._mark = folder / "recorded.json"
        self._recorder: MlflowRecorder | None = None
        self.begun = False
        self._complete = True
        self.on_problem: Callable[[str], None] = lambda problem: None

    def __enter__(self) -> Self:
        if self._marked() != self._state():
            self._recorder = MlflowRecorder(self._study, tracking_uri=self._uri)
            self._mark.unlink(missing_ok=True)
            for run, result in self._planner.runs():
                if result is not None:
                    self.finished(run, result)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._recorder is not None and self.begun and kind is not None:
            self._recorder.close(patience=5.0)

    @property
    def up_to_date(self) -> bool:
        """Whether all was recorded before this sweep began, tables and figures included."""
        return self._recorder is None

    def started(self, run: PlannedRun) -> None:
        """MLflow hears of a run when it has a result, so that a kill leaves none open."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """Record a result wherever the study has a place for it, and the aggregates that are whole with it."""
        if self._recorder is None:
            return
        self._begin(self._recorder)
        for asked in self._planner.runs_of(run.key):
            self._recorder.record(asked, result)
            if (group := self._planner.group_of(asked)) is not None:
                self._recorder.group(group)

    def tick(self) -> None:
        """Pass on what keeps results from being recorded."""
        problem = self._recorder.problem if self._recorder else None
        self.on_problem(f"MLflow: {problem}" if problem else "")

    def flush(self) -> bool:
        """Wait until every result so far is in MLflow; whether it is."""
        return self._recorder is None or self._recorder.flush()

    def finish(self, report: Report, files: Sequence[Path], *, stopped: bool) -> None:
        """Record tables, figures and models, and wait until all is written."""
        if self._recorder is None:
            return
        self._begin(self._recorder)
        status: Literal["FINISHED", "KILLED"] = "KILLED" if stopped else "FINISHED"
        self._recorder.finish(render(report, "markdown"), files, status=status, models=self._models())
        self._complete = self._recorder.close()
        if self._complete and not stopped:
            self._mark.write_text(json.dumps(self._state()))

    def outcome(self) -> str:
        """Where the records are, or what is missing and why, in one line."""
        where = without_password(self._uri) if self._uri else "setsweep ui"
        if self._complete:
            return where
        assert self._recorder is not None
        return (
            f"{self._recorder.pending} records are not in {where} ({self._recorder.problem or 'not answering'}); "
            "they are kept, and the same command brings them"
        )

    def _begin(self, recorder: MlflowRecorder) -> None:
        """With the first result: until then the cores belong to the workers that start."""
        if not self.begun:
            self.begun = True
            recorder.start()

    def _models(self) -> list[tuple[PlannedRun, Path]]:
        """The kept model of each chosen configuration."""
        first = self._study.confirm_seeds[0]
        runs = [run for run, result in self._planner.runs() if run.stage == "confirm" and run.seed == first and result]
        folders = [(run, model_folder(self._folder, run)) for run in runs]
        return [(run, folder) for run, folder in folders if (folder / "model.pt").exists()]

    def _state(self) -> dict[str, str]:
        """What identifies all that MLflow should have."""
        keys = sorted(f"{key}:{result.status}:{result.finished}" for key, result in self._planner.results.items())
        digest = hashlib.sha256("\n".join([self._study.text, *keys]).encode()).hexdigest()
        return {"store": _store(self._uri), "results": digest}

    def _marked(self) -> dict[str, str] | None:
        database = _store(self._uri).removeprefix("sqlite:///")
        if not self._mark.exists() or (_store(self._uri) != database and not Path(database).exists()):
            return None
        marked: dict[str, str] = json.loads(self._mark.read_text())
        return marked


def without_password(uri: str) -> str:
    """The URI as it may be shown."""
    parts = urllib.parse.urlsplit(uri)
    if parts.password is None:
        return uri
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")).geturl()


def _store(uri: str | None) -> str:
    """The store in full: where none is given, MLflow's setting or its default, a database in the current folder."""
    return uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{Path.cwd() / 'mlflow.db'}"
