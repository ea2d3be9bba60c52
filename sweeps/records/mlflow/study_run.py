"""A study's own run in MLflow: RUNNING while the study is; its page, and its tables and files at the end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from setsweep.sweeps.records.mlflow.guard import SESSION, session
from setsweep.sweeps.records.mlflow.provenance import study_provenance
from setsweep.sweeps.records.mlflow.state import RECORDED
from setsweep.sweeps.records.mlflow.table import Row, Table
from setsweep.sweeps.records.mlflow_pages import rows
from setsweep.sweeps.records.mlflow_pages.page import PREVIEW, PREVIEW_WIDTH, Page
from setsweep.sweeps.records.mlflow_pages.params import study_params
from setsweep.sweeps.study.study import Study

MAX_EXPERIMENT_NOTE = 20_000  # characters of an experiment tag, MLflow's limit


class StudyRun:
    """Found and opened again, or created.

    Args:
        study: whose run it is.
        table: the rows of its experiment.
    """

    def __init__(self, study: Study, table: Table) -> None:
        self._study, self._table = study, table
        self._row = self._open()

    @property
    def run_id(self) -> str:
        """Of the run."""
        return self._row.run_id

    def write_page(self, page: Page) -> None:
        """Bring the study's own page up to date: descriptions and numbers."""
        table = self._table
        of_run, of_experiment = (
            page.text(self._study, table.experiment_id, self.run_id, limit)
            for limit in (rows.MAX_DESCRIPTION, MAX_EXPERIMENT_NOTE)
        )
        content = rows.digest([of_experiment, dict(page.metrics), dict(page.curves)])
        if content != self._row.content:
            now = rows.milliseconds(time.time())
            metrics = [rows.MetricRow(name, value, now, 0) for name, value in page.metrics.items()]
            curves = page.curves.items()
            metrics += [rows.MetricRow(name, value, now, step) for name, curve in curves for step, value in curve]
            table.client.set_experiment_tag(table.experiment_id, rows.NOTE, of_experiment)
            table.log(self._row, metrics, {}, {rows.NOTE: of_run, rows.CONTENT: content})
            self._row.content = content

    def write_report(self, report: str, files: Sequence[Path], page: Page | None) -> None:
        """Tables, figures and the study file; for the arguments see `MlflowStore.write_study`."""
        client = self._table.client
        if page is None:
            client.set_tag(self.run_id, rows.NOTE, rows.shorten(report, rows.MAX_DESCRIPTION))
        else:
            self.write_page(page)
            if page.figure is not None:
                self._log_preview(page.figure)
        client.log_text(self.run_id, report, "report.md")
        client.log_text(self.run_id, self._study.text, "study.yaml")
        for path in files:
            client.log_artifact(self.run_id, str(path))

    def end(self, status: str, state: str) -> None:
        """End whatever is still open, this run last; `state` names all that was recorded, where it was all."""
        now = rows.milliseconds(time.time())
        for _, row in self._table.all():
            if row.status == "RUNNING" and row is not self._row:
                self._table.end(row, "KILLED", now)
        self._table.end(self._row, status, now)
        self._table.flush()
        if state:
            self._table.client.set_experiment_tag(self._table.experiment_id, RECORDED, state)

    def _open(self) -> Row:
        place = ("study", self._study.name)
        if found := self._table.at(place):
            self._table.reopen(found[0])
            self._table.log(found[0], (), {}, {SESSION: session()})
            return found[0]
        tags = {"level": "study", "run_key": self._study.name, rows.NOTE: self._study.about, SESSION: session()}
        row = self._table.create(place, place[1], {**tags, **study_provenance(self._study)}, time.time(), None)
        self._table.log(row, (), study_params(self._study), {})
        return row

    def _log_preview(self, figure: Path) -> None:
        """The figure in the size in which the page shows it."""
        with tempfile.TemporaryDirectory() as folder, Image.open(figure) as picture:
            picture.thumbnail((PREVIEW_WIDTH, PREVIEW_WIDTH))
            picture.save(Path(folder) / PREVIEW)
            self._table.client.log_artifact(self.run_id, str(Path(folder) / PREVIEW))
