"""Runs a study: puts the parts of a sweep together, runs what is missing, writes the report."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.errors import ExecutorError, StorageLostError
from setsweep.sweeps.planning.counts import Counts
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.failed_runs import FailedRuns
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.records.remote.working_copy import bring, published
from setsweep.sweeps.records.run_log import RunLog
from setsweep.sweeps.records.status_file import StatusFile
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.reports.examples import write_examples
from setsweep.sweeps.reports.report import Report, build_report, with_examples
from setsweep.sweeps.reports.report_folder import write_report
from setsweep.sweeps.study.defaults import as_begun
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.allowance import Allowance, BudgetSpent
from setsweep.sweeps.sweep.examples import find_examples
from setsweep.sweeps.sweep.executors import Where, opened
from setsweep.sweeps.sweep.loop import Sweep, Watcher
from setsweep.sweeps.sweep.preflight import check_runs, forecast
from setsweep.sweeps.sweep.progress import Progress, duration
from setsweep.sweeps.sweep.slot_time import training_seconds
from setsweep.sweeps.sweep.stopping import interrupt_on_sigterm, sigterm_as_interrupt

Stop = KeyboardInterrupt | ExecutorError | BudgetSpent


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a study is run.

    Args:
        storage: folder or URL where results are kept, a folder a study.
        where: where runs are trained.
        tracking_uri: MLflow server or database; None: MLflow's own default.
        replace: take a study changed under the same name as the new one.
        take_over: take the study from a process that holds it and gives no sign of life.
        retry_failed: train again what has failed before.
        verbose: whether each run that ends is shown.
    """

    storage: str
    where: Where = field(default_factory=Where)
    tracking_uri: str | None = None
    replace: bool = False
    take_over: bool = False
    retry_failed: bool = False
    verbose: bool = False


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How running a study ended.

    Args:
        report: of what is done.
        folder: of the study; `report` in it holds tables and figures.
        records: where MLflow's records are, or what is missing of them.
        address: where the results are in the MLflow UI; None: MLflow has not answered.
        stopped: what stopped it before its end: Ctrl-C, SIGTERM, its budget, or a cluster that gave up; None: nothing.
        counts: of the study's runs.
        missing: how many runs of each arm are not done, where some are not.
    """

    report: Report
    folder: Path
    records: str
    address: str | None
    stopped: Stop | None
    counts: Counts
    missing: Mapping[str, int]


def run_study(study: Study, options: RunOptions, console: Console) -> Ended:
    """Run what is missing of a study and write its report.

    Args:
        study: what to run.
        options: see `RunOptions`.
        console: where progress is shown.

    Raises:
        ExecutorError: no run can be trained, and none was.
        ValueError: a run that can't be trained, storage that can't be written, another study in it, no such cluster.
    """
    folder = study_folder(options.storage, study.name)
    say = partial(console.print, highlight=False, markup=False)
    with (
        sigterm_as_interrupt(),
        open_journal(study, folder, replace=options.replace, take_over=options.take_over, say=say) as journal,
    ):
        study = as_begun(study, journal.defaults)
        failed_again = {key for key, result in journal.results.items() if result.status == "failed"}
        known = journal.results.items()
        used = {key: result for key, result in known if not (options.retry_failed and key in failed_again)}
        planner = Planner(study, used, journal.trials)
        parts = _Parts(study, planner, DatasetCache(), journal, folder, console)
        for note in study.notes:
            parts.say(f"Note: {note}")
        check_runs(study, planner, parts.datasets, here=options.where.here)  # before MLflow hears of the study
        with (
            published(folder, parts.say),
            Projection(study, planner, folder, tracking_uri=options.tracking_uri) as projection,
        ):
            stopped = _run_what_is_left(parts, options, projection)
            if isinstance(stopped, StorageLostError) or (isinstance(stopped, ExecutorError) and not projection.begun):
                raise stopped
            for look in planner.looks():
                journal.add_look(look)
            report = build_report(study, planner.runs(), journal.looks, total=planner.total)
            if not (projection.up_to_date and (folder / "report").is_dir()):
                report = _with_examples(parts, report)
                projection.finish(report, write_report(report, folder / "report"), stopped=stopped is not None)
    return Ended(
        report=report,
        folder=folder,
        records=projection.outcome(),
        address=projection.address,
        stopped=stopped,
        counts=planner.counts(),
        missing={arm: left for arm in study.arms if (left := planner.counts(arm).left) > 0},
    )


@dataclass(frozen=True)
class _Parts:
    """What a sweep is put together from, but for the executor."""

    study: Study
    planner: Planner
    datasets: DatasetCache
    journal: Journal
    folder: Path
    console: Console

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False)


def _run_what_is_left(parts: _Parts, options: RunOptions, projection: Projection) -> Stop | None:
    """Run what the journal lacks; gives what stopped it, if anything did."""
    study, planner = parts.study, parts.planner
    left = planner.total - planner.done
    if left <= 0:
        counts = planner.counts()
        how = "are done" if counts.done == counts.total else f"have ended: {counts.ended_text}"
        parts.say(f"All {counts.total} runs of {study.name} {how}.")
        return None
    began, known = time.time(), set(planner.results)
    try:
        with opened(options.where, study, planner, parts.datasets, parts.say, parts.folder.absolute()) as executor:
            interrupt_on_sigterm()  # which Ray has taken
            slots = executor.slots  # some may rest later
            expected = forecast(study, planner, parts.datasets) if options.where.here else None
            together = "" if study.resources.seeds_per_worker == 1 else ", each with seeds together where that pays"
            parts.say(f"{study.name}: {left} of {planner.total} runs to train, {slots} at a time{together}")
            with (
                Progress(
                    study,
                    planner,
                    console=parts.console,
                    verbose=options.verbose,
                    expected=None if expected is None else expected / slots,
                ) as progress,
                _stop_told(parts),
            ):
                told: list[Watcher] = [FailedRuns(parts.folder), RunLog(parts.folder, study.name)]
                watchers = [*told, projection, progress, StatusFile(parts.folder, progress.seconds_left)]
                projection.on_problem = lambda problem: setattr(progress, "note", problem)
                allowance = Allowance(study.budget, gpus=executor.gpus)
                Sweep(study, planner, executor, parts.journal, parts.folder, watchers, allowance).run()
            seconds = time.time() - began
            new = [result for key, result in planner.results.items() if key not in known]
            share = training_seconds(new, since=began) / (seconds * slots)
            parts.say(f"{len(new)} runs in {duration(seconds)}; {100 * share:.0f} % of the slots' time was training.")
    except (KeyboardInterrupt, ExecutorError, BudgetSpent) as error:
        return error
    return None


def _with_examples(parts: _Parts, report: Report) -> Report:
    """The report with test images and their sets, where all is done; what is wrong with those costs nothing else."""
    if report.complete:
        try:
            runs = [run for run, _ in parts.planner.runs()]
            bring(parts.folder, "models")
            write_examples(find_examples(report, runs, parts.folder, parts.datasets), parts.folder)
        except Exception as error:  # noqa: BLE001 - a model or data that can't be read here
            parts.say(f"The report has no example images: {error}")
    return with_examples(report, parts.folder)


@contextmanager
def _stop_told(parts: _Parts) -> Iterator[None]:
    """A stop is answered at once: workers, report and MLflow may take their time."""
    try:
        yield
    except KeyboardInterrupt:
        parts.say(
            "Stopping. What is being trained goes on from its last checkpoint the next time. Waiting for the workers "
            "to end, then for the report and MLflow; once more ends at once."
        )
        raise
