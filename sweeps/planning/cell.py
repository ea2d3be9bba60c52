"""One arm at one grid point: its search, its race, the confirmation of what they have chosen, its sensitivity study.

What comes next is written down as one course of steps (`_steps`); each gives runs, and the next step is taken when the
results that it waits for are there.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.precision import Pilots
from setsweep.sweeps.planning.searching import Searching
from setsweep.sweeps.planning.trials import Trials, Values
from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.design.layout import design
from setsweep.sweeps.study.study import Arm, Point, Stage, Study
from setsweep.trainables.config.complete import complete_config, with_hyperparameters, with_training
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.config.training import PRESET

Results = Mapping[str, RunResult]

_LOSS, _TRAINING = "loss.", "training."


@dataclass(frozen=True, kw_only=True)
class Best:
    """The numbers that a report has of an arm at a point, as far as they are known.

    Args:
        searched: the mean of the best trial in the search, over the seeds that the choice is made by; while the first
            round goes on, over those that all trials have which have ended.
        confirmed: the mean of the confirmation's runs that have a number.
    """

    searched: float | None
    confirmed: float | None


class Cell:
    """Decides the runs of one arm at one grid point.

    Args:
        study, arm, point: what is asked for.
        known: the values of trials decided earlier, by their number.
        pilots: of the point, where the confirmation is to a precision.

    Attributes:
        runs: all decided so far, in order.
        waiting: those of them that are not given out yet.
        missing: the keys of those whose results are missing.
        finished: whether nothing more comes.
    """

    def __init__(self, study: Study, arm: Arm, point: Point, known: Mapping[int, Values], pilots: Pilots) -> None:
        self.study, self.arm, self.point, self.pilots = study, arm, point, pilots
        self.runs: list[PlannedRun] = []
        self.waiting: deque[PlannedRun] = deque()
        self.missing: set[str] = set()
        self.finished = False
        self.searching = Searching(study, arm, point, known) if study.search and arm.searched else None
        self._of: dict[tuple[Stage, int | None], list[PlannedRun]] = {}
        self._bases: dict[tuple[Stage, int | None], tuple[Candidate, RunConfig]] = {}
        self._first: dict[bool, RunConfig] = {}
        self._results: Results = {}
        self._course = self._steps()
        self._may_go_on: Callable[[], bool] = self._nothing_missing
        self._confirmed: list[tuple[Stage, int | None, Values]] | None = None
        self._rung = 0

    @property
    def total(self) -> int:
        """How many runs there will be, as far as that is known: of a confirmation to a precision the pilot."""
        return self._total(len(self.study.confirm_seeds))

    @property
    def most(self) -> int:
        """How many runs there may be at most."""
        if self.study.confirm.half_width is None:
            return self.total
        return self._total(max(self.study.confirm.most, len(self.study.confirm_seeds)))

    @property
    def left(self) -> int:
        """Runs not given out yet, those not decided yet included."""
        return self.total - len(self.runs) + len(self.waiting)

    @property
    def doing(self) -> str:
        """What it is at, in a few words."""
        if self.finished and not self.missing:
            return "done"
        if self.searching is None or self._confirmed is not None:
            return "confirmation"
        if self._rung == 0:
            return f"{len(self.searching.tried)} of {self.searching.trials} trials"
        plan = self.searching.rungs
        return (
            f"rung {self._rung + 1} of {len(plan)}: {plan[self._rung].trials} trials x {plan[self._rung].seeds} seeds"
        )

    @property
    def best(self) -> Best:
        """What its search and its confirmation have come to."""
        metric = self.study.primary
        runs = [run for (stage, _), runs in self._of.items() if stage == "confirm" for run in runs]
        results = [self._results.get(run.key) for run in runs]
        values = [result.metrics.get(metric, math.nan) for result in results if result and result.status == "done"]
        values = [value for value in values if math.isfinite(value)]
        searched = None if self.searching is None else self.searching.best_mean
        return Best(searched=searched, confirmed=math.fsum(values) / len(values) if values else None)

    def advance(self, results: Results) -> list[PlannedRun]:
        """Go as far as the results allow; returns the runs decided on the way."""
        self._results = results
        decided: list[PlannedRun] = []
        while not self.finished and self._may_go_on():
            self._may_go_on = self._nothing_missing
            new = next(self._course, None)
            if new is None:
                self.finished = True
                break
            self.runs += new
            lacking = [run for run in new if run.key not in results]
            self.waiting.extend(lacking)
            self.missing.update(run.key for run in lacking)
            decided += new
        return decided

    def new_trials(self) -> list[Trials]:
        """The trials decided since the last call that nobody has written down."""
        return [] if self.searching is None else self.searching.new_trials()

    def _steps(self) -> Iterator[list[PlannedRun]]:
        if self.searching is not None:
            yield from self._search(self.searching)
            yield from self._race(self.searching)
        yield from self._confirm()

    def _search(self, searching: Searching) -> Iterator[list[PlannedRun]]:
        seeds = searching.seeds
        if not searching.search.asynchronous:
            for batch in searching.batches():
                yield [run for number in batch for run in self._trial(searching, number, seeds)]
                for number in batch:
                    searching.tell(number, self._pairs("search", number))
            return
        open_: set[int] = set()
        for number in range(searching.trials):
            searching.decide(number)
            open_.add(number)
            self._may_go_on = lambda: self._close(searching, open_) < searching.search.batch
            yield self._trial(searching, number, seeds)
        self._may_go_on = lambda: not self._close(searching, open_)
        yield []

    def _close(self, searching: Searching, open_: set[int]) -> int:
        """Tell the search of trials that have ended; how many have not."""
        for number in sorted(open_):
            if not any(run.key in self.missing for run in self._of["search", number]):
                searching.tell(number, self._pairs("search", number))
                open_.discard(number)
        return len(open_)

    def _race(self, searching: Searching) -> Iterator[list[PlannedRun]]:
        """Each further rung: the seeds that those who are still there lack."""
        for index, (before, rung) in enumerate(itertools.pairwise(searching.rungs)):
            going = sorted(searching.rounds()[index].survivors)
            self._rung = index + 1
            seeds = searching.all_seeds[before.seeds : rung.seeds]
            yield [run for number in going for run in self._trial(searching, number, seeds)]
            for number in going:
                searching.tell(number, self._pairs("search", number))

    def _confirm(self) -> Iterator[list[PlannedRun]]:
        seeds, searching = self.study.confirm_seeds, self.searching
        if searching is None:
            self._confirmed = [("confirm", None, self.arm.default)]
        elif searching.search.further:
            best, *others = searching.front()
            self._confirmed = [("confirm", best, searching.tried[best])]
            self._confirmed += [("front", number, searching.tried[number]) for number in others]
        else:
            self._confirmed = [("confirm", None, searching.tried[searching.best()])]
        yield self._confirmation(seeds) + self._sensitivity()
        if self.study.confirm.half_width is None:
            return
        self.pilots.tell(self.arm.name, self._pairs(*self._confirmed[0][:2]))
        self._may_go_on = lambda: self.pilots.seeds is not None
        yield []
        yield self._confirmation(range(len(seeds), self.pilots.seeds or 0))

    def _confirmation(self, seeds: Iterable[int]) -> list[PlannedRun]:
        """Runs of what is chosen with each of the seeds, and of the default beside it."""
        seeds, confirmed = list(seeds), self._confirmed or []
        runs = [run for stage, number, values in confirmed for run in self._runs(stage, number, values, seeds)]
        return runs + (self._runs("default", None, self.arm.default, seeds) if self._confirms_default else [])

    def _sensitivity(self) -> list[PlannedRun]:
        """Runs of every configuration of the sensitivity study; what is not varied is as chosen, or at its default."""
        study, confirmed = self.study.sensitivity, self._confirmed or []
        if study is None:
            return []
        base = self.arm.default if study.at == "default" else confirmed[0][2]
        varied = enumerate(self._design)
        return [
            run for number, own in varied for run in self._runs("sensitivity", number, {**base, **own}, study.seeds)
        ]

    @cached_property
    def _design(self) -> list[Values]:
        return [] if self.study.sensitivity is None else design(self.study.sensitivity, self.arm)

    @property
    def _confirms_default(self) -> bool:
        return self.study.confirm.default and self.searching is not None

    def _total(self, seeds: int) -> int:
        searching = self.searching
        members = 1 if searching is None or not searching.search.further else searching.search.front
        members = members if self._confirmed is None else len(self._confirmed)
        if self.pilots.seeds is not None and self.study.confirm.half_width is not None:
            seeds = self.pilots.seeds
        varied = 0 if self.study.sensitivity is None else len(self._design) * len(self.study.sensitivity.seeds)
        return (searching.runs if searching else 0) + (members + self._confirms_default) * seeds + varied

    def _trial(self, searching: Searching, number: int, seeds: Sequence[int]) -> list[PlannedRun]:
        return self._runs("search", number, searching.tried[number], seeds)

    def _runs(self, stage: Stage, trial: int | None, values: Values, seeds: Sequence[int]) -> list[PlannedRun]:
        """One configuration with each of the seeds."""
        if not seeds:
            return []
        if (stage, trial) not in self._bases:
            plain = plain_config(self.study, self.arm, self.point, values, seed=seeds[0], test=stage != "search")
            if stage == "search" and self.searching is not None and trial in self.searching.stopping:
                plain["stopping"] = self.searching.stopping[trial].to_dict()
            config = self._complete(plain, values)
            params = self._params(values, config.loss)
            candidate = Candidate(arm=self.arm.name, point=self.point, stage=stage, trial=trial, params=params)
            self._bases[stage, trial] = candidate, config
        candidate, base = self._bases[stage, trial]
        runs = [PlannedRun(candidate=candidate, config=base.with_seed(seed)) for seed in seeds]
        self._of.setdefault((stage, trial), []).extend(runs)
        return runs

    def _complete(self, plain: Mapping[str, Any], values: Values) -> RunConfig:
        """The configuration; of those that differ in their loss and training alone the rest is checked once."""
        quick = (_LOSS,) if PRESET in plain["training"] else (_LOSS, _TRAINING)
        if "stopping" in plain or not all(path.startswith(quick) for path in values):
            return complete_config(plain)
        if plain["test"] not in self._first:
            self._first[plain["test"]] = complete_config(plain)
        config = self._first[plain["test"]]
        trained = [path for path in values if path.startswith(_TRAINING)]
        if trained:
            config = with_training(config, {path.removeprefix(_TRAINING): values[path] for path in trained})
        return with_hyperparameters(config, plain["loss"])

    def _params(self, values: Mapping[str, Any], loss: Mapping[str, Any]) -> dict[str, Any]:
        params = {name: value for name, value in loss.items() if name != "name"}
        others = {**self.arm.fixed, **values}
        return params | {path: value for path, value in others.items() if not path.startswith("loss.")}

    def _pairs(self, stage: Stage, trial: int | None) -> list[tuple[PlannedRun, RunResult]]:
        return [(run, self._results[run.key]) for run in self._of[stage, trial]]

    def _nothing_missing(self) -> bool:
        return not self.missing
