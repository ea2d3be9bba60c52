"""The search of one arm at one grid point: which trials, with which seeds, and what they have given so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from setsweep.sweeps.planning.choice import best_first, common_means, mean, value_in_search
from setsweep.sweeps.planning.front import front, members
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.pruning import Bounds, Ended, bounds, ended
from setsweep.sweeps.planning.race import Round, run_race, rungs, runs_of
from setsweep.sweeps.planning.samplers.suggestions import Suggestions, more_is_better
from setsweep.sweeps.planning.trials import Trials, Values, search_digest
from setsweep.sweeps.study.study import Arm, Point, Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.config.stopping import Stopping


class Searching:
    """Decides trials, and keeps what they have given.

    Args:
        study: has a search.
        arm: has something to search.
        point: of the grid.
        known: the values of trials decided earlier, by their number; the others are asked for.

    Attributes:
        trials: how many there will be.
        seeds: that each of them has.
        rungs: of the race; one where there is none.
        tried: the values of each trial decided so far, by its number.
        stopping: when a trial gives up; of those that do not, nothing.
    """

    def __init__(self, study: Study, arm: Arm, point: Point, known: Mapping[int, Values]) -> None:
        assert study.search is not None
        self.study, self.search, self.arm, self.point = study, study.search, arm, point
        self._known = known
        self.trials = self.search.trials_of(arm) + self._outside()
        self.seeds = self.search.seeds_of(arm)
        self.rungs = rungs(self.trials, len(self.seeds), self.search.race, self.search.least)
        self.all_seeds = self.search.first_seeds(max(len(self.seeds), self.search.race or 0))
        self.tried: dict[int, Values] = {}
        self._values: dict[int, dict[int, float]] = {}
        self._objectives: dict[int, tuple[float, ...]] = {}
        self._ended: dict[int, Ended] = {}
        self.stopping: dict[int, Stopping] = {}
        self._new: list[tuple[int, Values]] = []

    @property
    def runs(self) -> int:
        """How many runs the search takes, its race included."""
        return runs_of(self.rungs)

    def batches(self) -> Iterator[range]:
        """The numbers of the trials batch by batch; those of a batch are decided when it is asked for."""
        for first in range(0, self.trials, self.search.batch):
            batch = range(first, min(first + self.search.batch, self.trials))
            below = self._bounds()
            for number in batch:
                self.decide(number)
                if below:
                    self.stopping[number] = Stopping(metric=self.search.objective, seeds=self.seeds, below=below)
            yield batch

    def decide(self, number: int) -> None:
        """Decide a trial: as it was decided earlier, or else by asking."""
        if number in self._known:
            self.tried[number] = self._known[number]
            return
        self.tried[number] = self._suggestions.ask(number, dict(self.tried), self._objectives)
        self._new.append((number, self.tried[number]))

    def tell(self, number: int, pairs: Sequence[tuple[PlannedRun, RunResult]]) -> None:
        """Take the results of a trial, all that there are; suggestions see those alone that all trials have."""
        metric = self.search.objective
        self._values[number] = {run.seed: self._value(result, metric) for run, result in pairs}
        if self.search.pruner is not None and (end := ended(pairs, metric)) is not None:
            self._ended[number] = end
        if number not in self._objectives:
            means = (mean([self._value(result, each) for _, result in pairs]) for each in self.search.objectives)
            self._objectives[number] = tuple(means)

    def _value(self, result: RunResult, metric: str) -> float:
        return value_in_search(result, metric, saturated=self.search.saturated)

    def rounds(self) -> list[Round]:
        """The rounds of the race so far."""
        return run_race(self.rungs, self.all_seeds, self._values)

    def best(self) -> int:
        """The trial that is chosen, of all that were trained to their end."""
        return best_first(self.last_means(), [number for number, end in self._ended.items() if end.stopped])[0]

    def _bounds(self) -> Bounds:
        """What stops trials of the batch that is decided now."""
        return () if self.search.pruner is None else bounds(self.search.pruner, [*self._ended.values()])

    def last_means(self) -> Mapping[int, float]:
        """The means that the choice is made by: over the seeds that all have, of a race those of its last round."""
        return self.rounds()[-1].means if self.search.race is not None else common_means(self._values)

    @property
    def best_mean(self) -> float | None:
        """Of the trial that leads: its mean in the last round that is over, before that over the seeds all have."""
        over = [each.means for each in self.rounds() if each.means]
        means = over[-1] if over else common_means(self._values)
        return means[best_first(means)[0]] if means else None

    def front(self) -> list[int]:
        """Of several objectives: the trials that are confirmed, the best by the first objective before the others."""
        signs = [1.0 if more_is_better(metric) else -1.0 for metric in self.search.objectives]
        values = {
            number: [sign * value for sign, value in zip(signs, own, strict=True)]
            for number, own in self._objectives.items()
        }
        best = best_first({number: values[number][0] for number in front(values)})[0]
        return [best, *(number for number in members(values, self.search.front, kept=best) if number != best)]

    def new_trials(self) -> list[Trials]:
        """The trials decided since the last call that were not known, in rows."""
        found: list[Trials] = []
        while self._new:
            first = self._new[0][0]
            row = [values for step, (number, values) in enumerate(self._new) if number == first + step]
            del self._new[: len(row)]
            found.append(
                Trials(
                    arm=self.arm.name, point=self.point, first=first, values=row, of=search_digest(self.study, self.arm)
                )
            )
        return found

    @cached_property
    def _suggestions(self) -> Suggestions:
        return Suggestions(self.study, self.arm, self.point)

    def _outside(self) -> int:
        """A default outside of finite ranges that was tried earlier, when that was done, is one trial more."""
        if self.arm.combinations is None or 0 not in self._known or self.arm.tries_default:
            return 0
        return int(self._known[0] == self.arm.default)
