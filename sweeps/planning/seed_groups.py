"""Which seeds of a configuration train side by side: as many as the study says, or as a probe has measured.

How many train together changes a result no more than rounding does, but it does change that. So the seeds of a team
follow from the study and from what the journal holds, never from what is free at the moment.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner, Signal
from setsweep.sweeps.study.study import Resources

Team = list[PlannedRun]


class SeedTeams:
    """Groups the planner's runs into teams; all runs of a team are trained by one job.

    Args:
        planner: gives the runs.
        resources: of the study; `seeds_per_worker` says how many seeds a team may have.
        decided: what was measured for families of configurations, by name.
        decide: called with a family and its number of seeds when a probe has measured it.
    """

    def __init__(
        self,
        planner: Planner,
        resources: Resources,
        decided: Mapping[str, int],
        decide: Callable[[str, int], None],
    ) -> None:
        self._planner, self._asked, self._decide = planner, resources.seeds_per_worker, decide
        self._decided = dict(decided)
        self._ready: deque[Team] = deque()
        self._undecided: dict[str, list[Team]] = {}

    def next_team(self) -> Team | tuple[str, Team] | None:
        """Runs to train together; or a family to be probed, with the runs to probe it on; or None: nothing for now."""
        while not self._ready:
            run = self._planner.next_run()
            if isinstance(run, Signal):
                return None
            if self._asked == 1:
                return [run]
            seeds = [run, *self._planner.more_seeds(run)]
            if self._asked != "auto":
                self._ready += _teams(seeds, self._asked)
            elif len(seeds) == 1:
                return seeds
            elif (family := family_of(run)) in self._decided:
                self._ready += _teams(seeds, self._decided[family])
            else:
                first = family not in self._undecided
                self._undecided.setdefault(family, []).append(seeds)
                if first:
                    return family, seeds
        return self._ready.popleft()

    def decide(self, family: str, seeds: int) -> None:
        """Take what a probe has measured; the runs that waited for it are ready."""
        self._decided[family] = seeds
        self._decide(family, seeds)
        for waiting in self._undecided.pop(family):
            self._ready += _teams(waiting, seeds)


def family_of(run: PlannedRun) -> str:
    """What configurations have in common whose seeds cost the same side by side: all but data settings and numbers.

    A search has fewer seeds than a confirmation, and what is best of few says nothing about many.
    """
    config = run.config
    training = config.to_dict()["training"]
    training["optimizer"] = training["optimizer"]["name"]
    for name in ("epochs", "milestones", "gamma", "evaluate_every", "keep"):
        training.pop(name, None)
    data = {name: value for name, value in config.data.items() if name in ("name", "crop", "resize", "store")}
    parts = [run.stage, data, config.model, config.loss["name"], training]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=dict).encode()).hexdigest()[:16]


def first_seeds(runs: Sequence[PlannedRun]) -> Team:
    """The first of these runs and those that differ from it in the seed alone."""
    return [run for run in runs if run.group == runs[0].group]


def _teams(runs: Team, size: int) -> Iterable[Team]:
    return (runs[start : start + size] for start in range(0, len(runs), size))
