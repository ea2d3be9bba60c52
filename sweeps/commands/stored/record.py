"""``setsweep record``: a study into an MLflow store, from its journal."""

from __future__ import annotations

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.records.study_folder import stored_state, stored_study
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report


def command(study: StoredStudy, *, storage: str = DEFAULT_STORAGE, tracking_uri: str | None = None) -> int:
    """Write what is done of a study into MLflow: another server, or one that has lost it.

    Args:
        study: a study file, or the name of a study.
        storage: folder or URL where its results are kept.
        tracking_uri: MLflow server or database; default: MLflow's own (./mlflow.db).
    """
    read, folder = stored_study(study, storage)
    planner, looks = stored_state(read, folder, results_of=storage)
    report = build_report(planner.study, planner.runs(), looks, total=planner.total)
    with Projection(planner.study, planner, folder, tracking_uri=tracking_uri) as projection:
        if not projection.up_to_date:
            projection.finish(report, write_report(report, folder / "report"), stopped=not report.complete)
    print(f"MLflow: {projection.outcome()}")
    if projection.address:
        print(projection.address)
    return DONE if projection.complete else FAILED
