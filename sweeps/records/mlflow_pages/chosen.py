"""Which trial an arm's search chose at a point, as far as a recorder has seen both."""

from __future__ import annotations

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.reports.wording import settings
from setsweep.sweeps.study.study import Study, point_key

_Place = tuple[str, str]


class Chosen:
    """Remembers the trials of each arm at each point; gives the one with the configuration that is confirmed.

    Args:
        study: says how many trials there are.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._trials: dict[_Place, dict[str, tuple[int, str]]] = {}

    def saw(self, planned: PlannedRun, run_id: str) -> None:
        """Take note of a trial's aggregate; of trials with one configuration the first counts, as in the search."""
        assert planned.trial is not None
        trials = self._trials.setdefault(_place(planned), {})
        trials.setdefault(repr(dict(planned.params)), (planned.trial, run_id))

    def trial(self, confirmed: PlannedRun) -> str | None:
        """The run id of the aggregate of the trial that is confirmed."""
        found = self._trials.get(_place(confirmed), {}).get(repr(dict(confirmed.params)))
        return found[1] if found else None

    def text(self, confirmed: PlannedRun) -> str:
        """What was chosen, and by which trial: "alpha = 1.91 (trial 7 of 18)"; nothing where nothing was searched."""
        arm = self._study.arms.get(confirmed.arm)
        searched = {path.removeprefix("loss.") for path in arm.searched} if arm else set()
        values = settings({name: value for name, value in confirmed.params.items() if name in searched})
        found = self._trials.get(_place(confirmed), {}).get(repr(dict(confirmed.params)))
        if not values or found is None or self._study.search is None:
            return values
        return f"{values} (trial {found[0]} of {self._study.search.trials_of(self._study.arms[confirmed.arm])})"


def _place(planned: PlannedRun) -> _Place:
    return planned.arm, point_key(planned.point)
