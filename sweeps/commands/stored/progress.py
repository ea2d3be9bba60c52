"""How far stored studies are, as data: for tables and for ``--json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setsweep.sweeps.planning.counts import Counts
from setsweep.sweeps.records.archive import is_archived
from setsweep.sweeps.records.status_file import running_now, seconds_left
from setsweep.sweeps.records.study_folder import stored_planner
from setsweep.sweeps.study.study import Study


@dataclass(frozen=True, kw_only=True)
class StudyProgress:
    """A study and its arms, with what is being trained now.

    Args:
        study: as it is asked for.
        folder: where it is kept.
        counts: of all runs.
        arms: of each arm's.
        running: runs by arm.
        seconds_left: that the sweep will take; None where none is running, or that isn't known.
    """

    study: Study
    folder: Path
    counts: Counts
    arms: Mapping[str, Counts]
    running: Mapping[str, int]
    seconds_left: float | None

    @property
    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "study": self.study.name,
            "folder": str(self.folder),
            "archived": is_archived(self.folder),
            "notes": list(self.study.notes),
            "seconds_left": self.seconds_left,
            "runs": states(self.counts, sum(self.running.values())),
            "arms": {arm: states(counts, self.running.get(arm, 0)) for arm, counts in self.arms.items()},
        }


def progress_of(study: Study, folder: Path) -> StudyProgress:
    """How far a study is in its folder."""
    planner = stored_planner(study, folder, curves=False)
    return StudyProgress(
        study=study,
        folder=folder,
        counts=planner.counts(),
        arms={arm: planner.counts(arm) for arm in study.arms},
        running=Counter(running_now(folder).values()),
        seconds_left=seconds_left(folder),
    )


def states(counts: Counts, running: int) -> dict[str, int]:
    """Runs by state; all but `total` add up to it."""
    return {
        "total": counts.total,
        "done": counts.done,
        "running": running,
        "diverged": counts.diverged,
        "failed": counts.failed,
        "waiting": max(0, counts.left - running),
    }
