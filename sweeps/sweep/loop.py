"""The sweep: the planner decides, the executor runs, the journal keeps, the watchers show. One loop joins them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import Executor, GroupSize, Job, Outcome
from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.seed_groups import Probe, SeedGroups, Train
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.remote.working_copy import origin
from setsweep.sweeps.records.study_folder import model_folder, score_folder, scores_size
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.allowance import Allowance
from setsweep.trainables.checkpoint import remove_checkpoint
from setsweep.trainables.config.run_config import KeepModel
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric, accuracy
from setsweep.trainables.places import AnyPath, remove_folder

POLL_SECONDS = 1.0
UNCONFIRMED = ("search", "sensitivity")  # stages whose runs report nothing of their own


class Watcher(Protocol):
    """Whoever wants to know how a sweep goes: the recorder, the progress display."""

    def started(self, run: PlannedRun) -> None:
        """It is a run's turn to be trained."""
        ...

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result, which is in the journal."""
        ...

    def tick(self) -> None:
        """Called at least every second or so."""
        ...


@runtime_checkable
class Listener(Protocol):
    """A watcher who also wants to know what running runs have come to."""

    def news(self, moments: Sequence[Moment]) -> None:
        """Some running runs have been evaluated."""
        ...

    def tick(self) -> None:
        """See `Watcher`."""
        ...


class Sweep:
    """Joins the parts for one study.

    Args:
        study: what to run.
        planner: of that study; it knows the journal's results already.
        executor: where runs run.
        journal: where results go first.
        folder: of the study, for checkpoints and trained models.
        watchers: told of every run.
        allowance: what is left of the study's budget.
    """

    def __init__(
        self,
        study: Study,
        planner: Planner,
        executor: Executor,
        journal: Journal,
        folder: Path,
        watchers: Iterable[Watcher] = (),
        allowance: Allowance | None = None,
    ) -> None:
        self.study, self.planner, self.executor, self.journal = study, planner, executor, journal
        self.folder, self.watchers = folder.absolute(), list(watchers)  # a slot works in another folder
        self._allowance = allowance or Allowance(study.budget)
        self._place: AnyPath = origin(self.folder) or self.folder  # which slots see, wherever they are
        self._checkpoints = self._place / "checkpoints"
        self._groups = SeedGroups(planner, study.resources, journal.group_sizes, journal.add_group_size)
        self._jobs: dict[str, Train | Probe] = {}  # those that the executor has, in the order it takes them
        self._job_of: dict[str, str] = {}  # by run key
        self._announced: set[str] = set()  # those of them that are trained, as far as is known
        self._unannounced: deque[str] = deque()

    def run(self) -> None:
        """Run the study to its end.

        Raises:
            BudgetSpent: it has taken what it may.
            StorageLostError: what is recorded can't be found any more.
        """
        self.executor.listen(self._news)
        while self._fill() or self._jobs:
            self._allowance.check(self.planner.results)
            self._take(self.executor.wait(POLL_SECONDS))
            self.journal.check_there()
            for watcher in self.watchers:
                watcher.tick()
        self._allowance.check_runs(self.planner.total - self.planner.done)
        remove_folder(self._checkpoints)

    def _news(self, moments: Sequence[Moment]) -> None:
        """Hand on what running runs have come to; where they train in this process, nobody else ticks meanwhile."""
        for watcher in self.watchers:
            if isinstance(watcher, Listener):
                watcher.news(moments)
                watcher.tick()

    def _fill(self) -> bool:
        """Keep the executor supplied; False when the planner has no more to give for now."""
        while len(self._jobs) < self.executor.room:
            more = self._allowance.more_runs(self.planner.done + len(self._job_of))
            work = self._groups.next() if more else Done()
            if isinstance(work, Wait | Done):
                return False
            if isinstance(work, Train) and len(work.runs) > more:
                work = Train(work.runs[: int(more)])
            self.journal.add_trials(self.planner.new_trials())
            self._submit(work)
        return True

    def _submit(self, work: Train | Probe) -> None:
        job = self._job(work)
        self._jobs[job.key] = work
        self._unannounced.append(job.key)
        if isinstance(work, Train):
            self._job_of |= {run.key: job.key for run in work.runs}
        self.executor.submit(job)
        self._announce()

    def _announce(self) -> None:
        """Say which runs are being trained: those of the first jobs, as many as there are slots."""
        slots = self.executor.slots
        while self._unannounced and len(self._announced) < slots:
            key = self._unannounced.popleft()
            work = self._jobs.get(key)
            if work is not None:
                self._announced.add(key)
            if isinstance(work, Train):
                for run in work.runs:
                    self._allowance.started(run.key)
                    for watcher in self.watchers:
                        watcher.started(run)

    def _take(self, outcomes: Iterable[Outcome]) -> None:
        """What has come goes into the journal together, then to all others."""
        results: dict[str, RunResult] = {}
        for outcome in outcomes:
            if isinstance(outcome, GroupSize):
                probe = self._jobs.pop(outcome.key)
                self._announced.discard(outcome.key)
                assert isinstance(probe, Probe)
                self._groups.tell(probe.cost_class, outcome.seeds)
            else:
                results[outcome.key] = outcome
        jobs = dict.fromkeys(self._job_of.pop(key) for key in results)
        done = {job: [(run, results[run.key]) for run in self._jobs.pop(job).runs] for job in jobs}
        if done:
            self.journal.check_there()
            self.journal.add_all(*done.values())
        for job, pairs in done.items():
            self._finish(job, pairs)
        self._announce()

    def _finish(self, job: str, pairs: Sequence[tuple[PlannedRun, RunResult]]) -> None:
        self._announced.discard(job)
        remove_checkpoint(self._checkpoint(job))  # a run that failed leaves one
        for run, result in pairs:
            self._allowance.finished(run.key)
            self.planner.tell(result)
            for watcher in self.watchers:
                watcher.finished(run, result)

    def _job(self, work: Train | Probe) -> Job:
        job = Job(
            configs=tuple(run.config for run in work.runs),
            keep_models=tuple(self._keep_model(run) for run in work.runs),
            keep_scores=tuple(self._keep_scores(run) for run in work.runs),
            root=self.study.data_root,
            download=self.study.download,
            probe=isinstance(work, Probe),
        )
        return replace(job, checkpoint=self._checkpoint(job.key))

    def _checkpoint(self, job: str) -> AnyPath:
        return self._checkpoints / f"{job}.pt"

    def _keep_model(self, run: PlannedRun) -> KeepModel | None:
        """The chosen configuration's first confirmation seed gives the model that is kept."""
        if run.stage != "confirm" or run.seed != self.study.confirm_seeds[0]:
            return None
        return KeepModel(folder=model_folder(self._place, run), criterion=model_criterion(self.study, run.arm))

    def _keep_scores(self, run: PlannedRun) -> AnyPath | None:
        keep = self.study.keep
        if keep.scores == "none" or (keep.scores == "confirm" and run.stage in UNCONFIRMED):
            return None
        return score_folder(self._place, run) if scores_size(self._place) < keep.limit * 2**30 else None


def model_criterion(study: Study, arm: str) -> str:
    """The accuracy whose best epoch gives the model that is kept of an arm: the study's objective.

    That is the search's, else the metric that differences are judged by first; of an arm that is compared at its own
    set size alone, at that one.
    """
    objective = study.primary if study.search is None else study.search.objective
    criterion = Metric.parse(objective).criterion or accuracy("avg", study.k[-1])
    own = study.arms[arm].fixed.get("loss.k") if study.compare.k == "own" and study.search is None else None
    return replace(criterion, split=None, k=own or criterion.k).name
