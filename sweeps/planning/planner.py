"""The planner: which run is next. Its state is a function of the study and of the results so far, nothing else.

For every arm at every grid point it asks the search for a batch of trials, trains each with the search's seeds, tells
the search, and so on; then the configuration that is best on validation is trained again with the fresh seeds of the
confirmation. The order in which results arrive changes nothing: a batch is told when it is complete, in its own order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.search import ArmSearch
from setsweep.sweeps.study.configuration import plain_config
from setsweep.sweeps.study.study import Arm, Point, Stage, Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult


class Planner:
    """Decides the runs of a study.

    Args:
        study: what is asked for.
        known: results from earlier, by run key; their runs are never given out.

    Attributes:
        results: all results by run key, those included that the study does not ask for (any more).
        done: how many of the study's runs have a result. Where two arms ask for the same training, it is trained once
            and counts in both, here as in `total`.
        failed: how many of those have diverged or failed.
    """

    def __init__(self, study: Study, known: Mapping[str, RunResult] | None = None) -> None:
        self.study = study
        self.results: dict[str, RunResult] = dict(known or {})
        self.done = self.failed = 0
        self._given: set[str] = set()
        self._cells = [_Cell(study, arm, point) for point in study.points() for arm in study.arms.values()]
        self._of_key: dict[str, list[PlannedRun]] = {}
        self._groups: dict[Candidate, list[PlannedRun]] = {}
        self._waiting_for: dict[str, list[_Cell]] = {}
        for cell in self._cells:
            self._advance(cell)

    def next_run(self) -> PlannedRun | Wait | Done:
        """A run to train now; Wait where the next one depends on results not told yet; Done where there is none."""
        while ready := [cell for cell in self._cells if cell.waiting]:
            # The arm with the most left to do goes first, so that no slot waits in the end for one arm's last trials.
            run = max(ready, key=lambda cell: cell.left).waiting.popleft()
            if run.key not in self._given and run.key not in self.results:  # else another arm has asked for it as well
                self._given.add(run.key)
                return run
        return Done() if all(cell.finished for cell in self._cells) else Wait()

    def more_seeds(self, run: PlannedRun) -> list[PlannedRun]:
        """The further runs to train now that differ from this one in the seed alone."""
        (cell,) = (cell for cell in self._cells if cell.arm.name == run.arm and cell.point == run.point)
        more: list[PlannedRun] = []
        while cell.waiting and cell.waiting[0].candidate == run.candidate:
            other = cell.waiting.popleft()
            if other.key not in self._given and other.key not in self.results:
                self._given.add(other.key)
                more.append(other)
        return more

    def tell(self, result: RunResult) -> None:
        """Take the result of a run; telling it twice changes nothing."""
        if result.key in self.results:
            return
        self.results[result.key] = result
        self._count(result, len(self.runs_of(result.key)))
        for cell in self._waiting_for.pop(result.key, ()):
            cell.missing.discard(result.key)
            self._advance(cell)

    def runs(self) -> list[tuple[PlannedRun, RunResult | None]]:
        """Every run decided so far in the order of the study, with its result where there is one."""
        return [(run, self.results.get(run.key)) for cell in self._cells for run in cell.runs]

    def runs_of(self, key: str) -> list[PlannedRun]:
        """Every run of the study with this key: where several arms ask for the same training, there are several."""
        return self._of_key.get(key, [])

    def group_of(self, run: PlannedRun) -> list[tuple[PlannedRun, RunResult]] | None:
        """All seeds of the run's configuration with their results, or None while one is missing."""
        members = self._groups[run.candidate]
        results = [(member, self.results[member.key]) for member in members if member.key in self.results]
        return results if len(results) == len(members) else None

    @property
    def total(self) -> int:
        """How many runs the study has, those included that are not decided yet."""
        return sum(cell.total for cell in self._cells)

    def total_of(self, arm: str) -> int:
        """How many of them are of one arm."""
        return sum(cell.total for cell in self._cells if cell.arm.name == arm)

    def _advance(self, cell: _Cell) -> None:
        decided = cell.advance(self.results)
        for run in decided:
            self._of_key.setdefault(run.key, []).append(run)
            self._groups.setdefault(run.candidate, []).append(run)
            if run.key in self.results:
                self._count(self.results[run.key], 1)
        for key in cell.missing if decided else ():
            self._waiting_for.setdefault(key, []).append(cell)

    def _count(self, result: RunResult, runs: int) -> None:
        self.done += runs
        self.failed += runs if result.status != "done" else 0


class _Cell:
    """One arm at one grid point: its search, then its confirmation."""

    def __init__(self, study: Study, arm: Arm, point: Point) -> None:
        self.study, self.arm, self.point = study, arm, point
        self.runs: list[PlannedRun] = []
        self.waiting: deque[PlannedRun] = deque()
        self.search = self._new_search()
        self.finished = False
        self._trials: list[dict[str, Any]] = []
        self._objectives: list[float] = []
        self.missing: set[str] = set()
        self._stage: Stage | None = None
        searched = self.search.trials * len(study.search.seeds) if self.search and study.search else 0
        self.total = searched + len(study.confirm_seeds)

    @property
    def left(self) -> int:
        """Runs not given out yet, those not decided yet included."""
        return self.total - len(self.runs) + len(self.waiting)

    def advance(self, results: Mapping[str, RunResult]) -> list[PlannedRun]:
        """Go as far as the results allow; returns the runs decided on the way."""
        decided: list[PlannedRun] = []
        while not self.finished and not self.missing:
            new = self._next_step(results)
            self.runs += new
            self.waiting.extend(run for run in new if run.key not in results)
            self.missing = {run.key for run in new if run.key not in results}
            decided += new
        return decided

    def _next_step(self, results: Mapping[str, RunResult]) -> list[PlannedRun]:
        """The runs of the next batch of trials, or of the confirmation; nothing when all is done."""
        if self._stage == "confirm":
            self.finished = True
            return []
        if self.search is None:
            return self._confirm({path: space.default for path, space in self.arm.searched.items()})
        if self._stage == "search":
            self._tell_batch(results)
        self._stage = "search"
        if batch := self.search.ask_batch():
            first = len(self._trials)
            self._trials += batch
            return [run for number, values in enumerate(batch, first) for run in self._trial(number, values)]
        best = max(range(len(self._trials)), key=lambda number: self._objectives[number])  # the first of equals
        return self._confirm(self._trials[best])

    def _tell_batch(self, results: Mapping[str, RunResult]) -> None:
        assert self.search is not None
        assert self.study.search is not None
        seeds, objective = len(self.study.search.seeds), self.study.search.objective
        done = len(self._objectives)
        batch = self.runs[done * seeds :]
        values = [_objective(results[run.key], objective) for run in batch]
        means = [sum(values[start : start + seeds]) / seeds for start in range(0, len(values), seeds)]
        self.search.tell_batch(means)
        self._objectives += means

    def _trial(self, number: int, values: Mapping[str, Any]) -> Iterable[PlannedRun]:
        assert self.study.search is not None
        return self._runs("search", number, values, self.study.search.seeds)

    def _confirm(self, values: Mapping[str, Any]) -> list[PlannedRun]:
        self._stage = "confirm"
        return self._runs("confirm", None, values, self.study.confirm_seeds)

    def _runs(
        self, stage: Stage, trial: int | None, values: Mapping[str, Any], seeds: Iterable[int]
    ) -> list[PlannedRun]:
        """One configuration with each of the seeds."""
        configs = [
            complete_config(plain_config(self.study, self.arm, self.point, values, seed=seed, test=stage == "confirm"))
            for seed in seeds
        ]
        params = self._params(values, configs[0].loss)
        candidate = Candidate(arm=self.arm.name, point=self.point, stage=stage, trial=trial, params=params)
        return [PlannedRun(candidate=candidate, config=config) for config in configs]

    def _params(self, values: Mapping[str, Any], loss: Mapping[str, Any]) -> dict[str, Any]:
        params = {name: value for name, value in loss.items() if name != "name"}
        others = {**self.arm.fixed, **values}
        return params | {path: value for path, value in others.items() if not path.startswith("loss.")}

    def _new_search(self) -> ArmSearch | None:
        if not self.arm.searched or self.study.search is None:
            return None
        identity = (self.study.name, self.arm.name, dict(self.point))
        return ArmSearch(self.study.search, self.arm.searched, identity=identity)


def _objective(result: RunResult, metric: str) -> float:
    """What a run counts for in the search: a diverged or failed one is as bad as an accuracy can be."""
    return result.metrics[metric] if result.status == "done" else 0.0
