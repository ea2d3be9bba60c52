"""The sweep: the planner decides, the executor runs, the journal keeps, the watchers show. One loop joins them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from sweeps.execution.executor import Executor, Job
from sweeps.planning.planned_run import PlannedRun
from sweeps.planning.planner import Planner, Signal
from sweeps.planning.study import Study
from sweeps.records.journal import Journal
from trainables.run_config import KeepModel, RunResult

POLL_SECONDS = 1.0


class Watcher(Protocol):
    """Whoever wants to know how a sweep goes: the recorder, the progress display."""

    def started(self, run: PlannedRun) -> None:
        """A run was given to the executor."""
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
        self._training: dict[str, PlannedRun] = {}

    def run(self) -> None:
        """Run the study to its end."""
        while self._fill() or self._training:
            for result in self.executor.wait(POLL_SECONDS):
                self._take(result)
            for watcher in self.watchers:
                watcher.tick()

    def _fill(self) -> bool:
        """Keep every slot busy and one job waiting for it; False when the planner has no more to give for now."""
        while len(self._training) < 2 * self.executor.slots:
            run = self.planner.next_run()
            if isinstance(run, Signal):
                return False
            self._training[run.key] = run
            self.executor.submit(self._job(run))
            for watcher in self.watchers:
                watcher.started(run)
        return True

    def _take(self, result: RunResult) -> None:
        run = self._training.pop(result.key)
        self.journal.add(run, result)
        self.planner.tell(result)
        for watcher in self.watchers:
            watcher.finished(run, result)

    def _job(self, run: PlannedRun) -> Job:
        return Job(
            config=run.config,
            checkpoint=self.folder / "checkpoints" / f"{run.key}.pt",
            keep_model=self._keep_model(run),
            root=self.study.data_root,
            download=self.study.download,
        )

    def _keep_model(self, run: PlannedRun) -> KeepModel | None:
        """The chosen configuration's first confirmation seed gives the model that is kept."""
        if run.stage != "confirm" or run.seed != self.study.confirm_seeds[0]:
            return None
        return KeepModel(folder=model_folder(self.folder, run), criterion=model_criterion(self.study))


def model_folder(folder: Path, run: PlannedRun) -> Path:
    """Where a run's trained model lies in the study's folder."""
    return folder / "models" / run.key


def model_criterion(study: Study) -> str:
    """The accuracy whose best epoch gives the kept model: the search's objective, else average-k at the first k."""
    return study.search.objective.removeprefix("val/") if study.search else f"avg{study.k[0]}_accuracy"
