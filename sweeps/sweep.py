"""The sweep: the planner decides, the executor runs, the journal keeps, the watchers show. One loop joins them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from setsweep.sweeps.execution.executor import Executor, Job, Outcome, SeedsAtOnce
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.seed_groups import SeedTeams, Team
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import model_folder
from setsweep.sweeps.study.study import Study
from setsweep.trainables.checkpoint import remove_checkpoint
from setsweep.trainables.config.run_config import KeepModel
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric, accuracy

POLL_SECONDS = 1.0


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


class Sweep:
    """Joins the parts for one study.

    Args:
        study: what to run.
        planner: of that study; it knows the journal's results already.
        executor: where runs run.
        journal: where results go first.
        folder: of the study, for checkpoints and trained models.
        watchers: told of every run.
    """

    def __init__(
        self,
        study: Study,
        planner: Planner,
        executor: Executor,
        journal: Journal,
        folder: Path,
        watchers: Iterable[Watcher] = (),
    ) -> None:
        self.study, self.planner, self.executor, self.journal = study, planner, executor, journal
        self.folder, self.watchers = folder.absolute(), list(watchers)  # a slot works in another folder
        self._checkpoints = self.folder / "checkpoints"
        self._teams = SeedTeams(planner, study.resources, journal.seeds_at_once, journal.decide_seeds)
        self._jobs: dict[str, Team] = {}  # those that the executor has, in the order it takes them; a probe has no team
        self._job_of: dict[str, str] = {}  # by run key
        self._announced: set[str] = set()
        self._probes: dict[str, str] = {}  # the families that probes measure, by job

    def run(self) -> None:
        """Run the study to its end."""
        while self._fill() or self._jobs:
            self._take(self.executor.wait(POLL_SECONDS))
            for watcher in self.watchers:
                watcher.tick()
        shutil.rmtree(self._checkpoints, ignore_errors=True)

    def _fill(self) -> bool:
        """Keep every slot busy and one job waiting for it; False when the planner has no more to give for now."""
        while len(self._jobs) < 2 * self.executor.slots:
            team = self._teams.next_team()
            if team is None:
                return False
            if isinstance(team, tuple):
                family, runs = team
                probe = self._job(runs, probe=True)
                self._probes[probe.key], self._jobs[probe.key] = family, []
                self.executor.submit(probe)
            else:
                self._start(team)
        return True

    def _start(self, team: Team) -> None:
        job = self._job(team)
        self._jobs[job.key] = team
        self._job_of |= {run.key: job.key for run in team}
        self.executor.submit(job)
        self._announce()

    def _announce(self) -> None:
        """Say which runs are being trained: those of the first jobs, as many as there are slots."""
        for job in list(self._jobs)[: self.executor.slots]:
            if job not in self._announced:
                self._announced.add(job)
                for run in self._jobs[job]:
                    for watcher in self.watchers:
                        watcher.started(run)

    def _take(self, outcomes: Iterable[Outcome]) -> None:
        """What has come; the results of one job, which come together, go into the journal together."""
        results: dict[str, RunResult] = {}
        for outcome in outcomes:
            if isinstance(outcome, SeedsAtOnce):
                del self._jobs[outcome.key]
                self._teams.decide(self._probes.pop(outcome.key), outcome.seeds)
            else:
                results[outcome.key] = outcome
        for job in dict.fromkeys(self._job_of.pop(key) for key in results):
            self._finish(job, [(run, results[run.key]) for run in self._jobs.pop(job)])
        self._announce()

    def _finish(self, job: str, pairs: Sequence[tuple[PlannedRun, RunResult]]) -> None:
        self._announced.discard(job)
        self.journal.add_all(pairs)
        remove_checkpoint(self._checkpoint(job))  # a run that failed leaves one
        for run, result in pairs:
            self.planner.tell(result)
            for watcher in self.watchers:
                watcher.finished(run, result)

    def _job(self, team: Team, *, probe: bool = False) -> Job:
        job = Job(
            configs=tuple(run.config for run in team),
            keep_models=tuple(self._keep_model(run) for run in team),
            root=self.study.data_root,
            download=self.study.download,
            probe=probe,
        )
        return replace(job, checkpoint=self._checkpoint(job.key))

    def _checkpoint(self, job: str) -> Path:
        return self._checkpoints / f"{job}.pt"

    def _keep_model(self, run: PlannedRun) -> KeepModel | None:
        """The chosen configuration's first confirmation seed gives the model that is kept."""
        if run.stage != "confirm" or run.seed != self.study.confirm_seeds[0]:
            return None
        return KeepModel(folder=model_folder(self.folder, run), criterion=model_criterion(self.study))


def model_criterion(study: Study) -> str:
    """The accuracy whose best epoch gives the kept model: the search's objective, else average-k at the first k."""
    criterion = Metric.parse(study.search.objective) if study.search else accuracy("avg", study.k[0])
    return criterion.on(None).name
