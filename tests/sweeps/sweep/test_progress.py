"""The line that a running sweep shows."""

from __future__ import annotations

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.progress import Progress


def test_every_seed_that_trains_beside_others_is_running(study: Study) -> None:
    planner = Planner(study)
    progress = Progress(study, planner)
    for run, _ in planner.runs()[:5]:
        progress.started(run)
    assert progress.summary() == "0 of 20 runs done, 5 running, 0 failed, 15 left"
