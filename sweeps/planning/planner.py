"""The planner: which run is next. Its state is a function of the study and of the results so far, nothing else.

For every arm at every grid point there is a cell: it asks the search for a batch of trials, trains each with the
search's seeds, tells the search, and so on; then the configuration that is best on validation is trained again with the
fresh seeds of the confirmation. The order in which results arrive changes nothing: a batch is told when it is complete,
in its own order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.cell import Best, Cell
from setsweep.sweeps.planning.counts import Counts, count_runs
from setsweep.sweeps.planning.looks import Look, look_at
from setsweep.sweeps.planning.most_left import MostLeft
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.precision import Pilots
from setsweep.sweeps.planning.race import Round
from setsweep.sweeps.planning.trials import KnownTrials, Trials
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.config.run_result import RunResult


@dataclass(frozen=True)
class Race:
    """The rounds of one arm at one point; a search without a race has one."""

    arm: str
    point: Point
    rounds: tuple[Round, ...]


class Planner:
    """Decides the runs of a study.

    Args:
        study: what is asked for.
        known: results from earlier, by run key; their runs are never given out.
        trials: what was decided to be tried earlier; the search is asked for the rest alone.

    Attributes:
        results: all results by run key, those included that the study does not ask for (any more).
        done: how many of the study's runs have a result. Where two arms ask for the same training, it is trained once
            and counts in both, here as in `total`.
    """

    def __init__(
        self, study: Study, known: Mapping[str, RunResult] | None = None, trials: KnownTrials | None = None
    ) -> None:
        self.study = study
        self.results: dict[str, RunResult] = dict(known or {})
        self.done = 0
        self._given: set[str] = set()
        self._cells = _cells(study, trials or KnownTrials())
        self._queue = MostLeft(self._cells)
        self._new: list[Cell] = []  # that have decided something since the trials were asked for
        self._cell_of: dict[Candidate, Cell] = {}
        self._of_key: dict[str, list[PlannedRun]] = {}
        self._groups: dict[Candidate, list[PlannedRun]] = {}
        self._lacking = Counter[Candidate]()  # how many results of a group are missing
        self._waiting_for: dict[str, list[Cell]] = {}
        for _ in range(1 if study.confirm.half_width is None else 2):  # again, when all pilots are known
            for cell in self._cells:
                self._advance(cell)

    def next_run(self) -> PlannedRun | Wait | Done:
        """A run to train now; Wait where the next one depends on results not told yet; Done where there is none."""
        while (cell := self._queue.first()) is not None:
            run = cell.waiting.popleft()
            if run.key not in self._given and run.key not in self.results:  # else another arm has asked for it as well
                self._given.add(run.key)
                return run
        return Done() if all(cell.finished for cell in self._cells) else Wait()

    def more_seeds(self, run: PlannedRun) -> list[PlannedRun]:
        """The further runs to train now that differ from this one in the seed alone."""
        cell = self._cell_of[run.candidate]
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
        asked = self.runs_of(result.key)
        self.done += len(asked)
        self._lacking.subtract(run.candidate for run in asked)
        for cell in self._waiting_for.pop(result.key, ()):
            cell.missing.discard(result.key)
            self._advance(cell)
            if self.study.confirm.half_width is not None:  # the last pilot of a point sets the other arms going
                for other in self._cells:
                    if other.pilots is cell.pilots:
                        self._advance(other)

    def new_trials(self) -> list[Trials]:
        """The trials decided since the last call that were not known: to be written down before their runs start."""
        cells, self._new = self._new, []
        return [trials for cell in cells for trials in cell.new_trials()]

    def runs(self) -> list[tuple[PlannedRun, RunResult | None]]:
        """Every run decided so far in the order of the study, with its result where there is one."""
        return [(run, self.results.get(run.key)) for cell in self._cells for run in cell.runs]

    def runs_of(self, key: str) -> list[PlannedRun]:
        """Every run of the study with this key: where several arms ask for the same training, there are several."""
        return self._of_key.get(key, [])

    def group_of(self, run: PlannedRun) -> list[tuple[PlannedRun, RunResult]] | None:
        """All seeds of the run's configuration with their results, or None while one is missing."""
        if self._lacking[run.candidate]:
            return None
        return [(member, self.results[member.key]) for member in self._groups[run.candidate]]

    @property
    def total(self) -> int:
        """How many runs the study has, those included that are not decided yet."""
        return sum(cell.total for cell in self._cells)

    @property
    def most(self) -> int:
        """How many runs the study may have at most: more than `total` where a confirmation is to a precision."""
        return sum(cell.most for cell in self._cells)

    def races(self) -> list[Race]:
        """What each search has come to, round by round, for all arms that are searched at all points."""
        cells = [(cell, cell.searching) for cell in self._cells]
        return [Race(cell.arm.name, cell.point, tuple(each.rounds())) for cell, each in cells if each is not None]

    def doing(self, arm: str) -> dict[str, int]:
        """What an arm is at, in a few words, and at how many points of the grid."""
        return dict(Counter(cell.doing for cell in self._cells if cell.arm.name == arm))

    def looks(self) -> list[Look]:
        """The confirmations that are complete: which configuration was looked at on test data, with how many seeds."""
        done: dict[Candidate, list[PlannedRun]] = {}
        for cell in self._cells if self.done == self.total else ():
            for run in cell.runs:
                if run.stage in ("confirm", "front"):
                    done.setdefault(run.candidate, []).append(run)
        return [look_at(runs, self.study) for runs in done.values()]

    def counts(self, arm: str | None = None) -> Counts:
        """The study's runs by their state, or those of one arm."""
        cells = [cell for cell in self._cells if arm in (None, cell.arm.name)]
        results = (self.results.get(run.key) for cell in cells for run in cell.runs)
        return count_runs(results, sum(cell.total for cell in cells))

    def best(self, arm: str) -> list[Best]:
        """The best of an arm so far, for each point of the grid."""
        return [cell.best for cell in self._cells if cell.arm.name == arm]

    def _advance(self, cell: Cell) -> None:
        decided = cell.advance(self.results)
        for run in decided:
            self._of_key.setdefault(run.key, []).append(run)
            self._groups.setdefault(run.candidate, []).append(run)
            self._cell_of[run.candidate] = cell
            self.done += run.key in self.results
            self._lacking[run.candidate] += run.key not in self.results
        if decided:
            self._new.append(cell)
        self._queue.update(cell)
        for key in {run.key for run in decided if run.key in cell.missing}:
            self._waiting_for.setdefault(key, []).append(cell)


def _cells(study: Study, trials: KnownTrials) -> list[Cell]:
    cells = []
    for point in study.points():
        pilots = Pilots(study)
        for arm in study.arms.values():
            known = trials.values_of(study, arm, point) if study.search and arm.searched else {}
            cells.append(Cell(study, arm, point, known, pilots))
    return cells
