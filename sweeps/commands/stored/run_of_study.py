"""The runs of a study that is stored, for commands about one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from setsweep.losses.values import nearest
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.study_folder import stored_planner, stored_study
from setsweep.sweeps.reports.wording import settings
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult


@dataclass(frozen=True)
class StoredRun:
    """A run that a study has planned so far, with its result if it has one."""

    study: Study
    planned: PlannedRun
    result: RunResult | None

    @property
    def described(self) -> str:
        """Arm, grid point, trial and seed."""
        run = self.planned
        trial = "" if run.trial is None else f"trial {run.trial}"
        return ", ".join(part for part in (run.arm, settings(run.point), trial, f"seed {run.seed}") if part)


def stored_runs(study: str, storage: str) -> tuple[list[StoredRun], Path]:
    """The runs of a study, and its folder; for the arguments see the commands."""
    read, folder = stored_study(study, storage)
    planner = stored_planner(read, folder)
    return [StoredRun(read, planned, result) for planned, result in planner.runs()], folder


def find_run(runs: Sequence[StoredRun], key: str) -> StoredRun:
    """The run whose key begins so. Raises ValueError: none, or several."""
    found = {run.planned.key: run for run in runs if run.planned.key.startswith(key)}
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise ValueError(f"RUN must be the key of one run, got {key!r}, which {len(found)} keys begin with.")
    known = nearest(key, [run.planned.key for run in runs])
    raise ValueError(
        f"RUN must be the key of a run of the study, got {key!r}.{known} 'setsweep logs STUDY' lists keys."
    )
