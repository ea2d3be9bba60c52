"""Which seeds of a configuration train together: as many as the study says, or as a probe has measured.

How many train together changes a result no more than rounding does, but it does change that. So seed groups follow from
the study and from what the journal holds, never from what is free at the moment.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.parts import Resources


@dataclass(frozen=True)
class Train:
    """A seed group: runs that differ in their seed alone, to be trained together."""

    runs: Sequence[PlannedRun]


@dataclass(frozen=True)
class Probe:
    """Seeds of a configuration, to measure how many of them should train together.

    Args:
        runs: the seeds.
        cost_class: of the configuration: what is measured holds for all of it.
    """

    runs: Sequence[PlannedRun]
    cost_class: str


class SeedGroups:
    """Puts the planner's runs into seed groups; each is trained by one job.

    Args:
        planner: gives the runs.
        resources: of the study; `seeds_per_worker` says how many seeds a group may have.
        measured: what was measured for classes of configurations, by name.
        keep: called with a class and its number of seeds when a probe has measured it.
    """

    def __init__(
        self, planner: Planner, resources: Resources, measured: Mapping[str, int], keep: Callable[[str, int], None]
    ) -> None:
        self._planner, self._asked, self._keep = planner, resources.seeds_per_worker, keep
        self._measured = dict(measured)
        self._ready: deque[Train] = deque()
        self._unmeasured: dict[str, list[list[PlannedRun]]] = {}

    def next(self) -> Train | Probe | Wait | Done:
        """What to do now."""
        while not self._ready:
            run = self._planner.next_run()
            if isinstance(run, Wait | Done):
                return run
            if run.config.stopping is not None:  # by the mean over all of them
                return Train([run, *self._planner.more_seeds(run)])
            if self._asked == 1:
                return Train([run])
            seeds = [run, *self._planner.more_seeds(run)]
            if self._asked != "auto":
                self._ready += _split(seeds, self._asked)
            elif len(seeds) == 1:
                return Train(seeds)
            elif (name := cost_class(run)) in self._measured:
                self._ready += _split(seeds, self._measured[name])
            else:
                first = name not in self._unmeasured
                self._unmeasured.setdefault(name, []).append(seeds)
                if first:
                    return Probe(seeds, name)
        return self._ready.popleft()

    def tell(self, cost_class: str, seeds: int) -> None:
        """Take what a probe has measured; the runs that waited for it are ready."""
        self._measured[cost_class] = seeds
        self._keep(cost_class, seeds)
        for waiting in self._unmeasured.pop(cost_class):
            self._ready += _split(waiting, seeds)


def cost_class(run: PlannedRun) -> str:
    """What configurations have in common whose seeds cost the same together: all but data settings and numbers.

    A search has fewer seeds than a confirmation, and what is best of few says nothing about many.
    """
    config = run.config
    training = config.to_dict()["training"]
    training["optimizer"] = training["optimizer"]["name"]
    for name in ("epochs", "milestones", "gamma", "evaluate_every", "keep"):
        training.pop(name, None)
    data = {name: value for name, value in config.data.items() if name in ("name", "crop", "resize", "store")}
    stage = (
        "search" if run.stage == "search" else "confirm"
    )  # the default is confirmed with as many seeds as the choice
    parts = [stage, data, config.model, config.loss["name"], training]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=dict).encode()).hexdigest()[:16]


def first_candidate(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """The first of these runs and those that differ from it in the seed alone."""
    return [run for run in runs if run.candidate == runs[0].candidate]


def _split(runs: Sequence[PlannedRun], size: int) -> Iterable[Train]:
    return (Train(runs[start : start + size]) for start in range(0, len(runs), size))
