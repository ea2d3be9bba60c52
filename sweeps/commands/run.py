"""``setsweep run``: put the parts together, run the study, print its table."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

from rich.console import Console

from setsweep.sweeps.commands.exit_codes import DONE, FAILED, STOPPED
from setsweep.sweeps.commands.preflight import check_runs
from setsweep.sweeps.commands.progress import Progress, duration
from setsweep.sweeps.commands.status import StatusFile
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Executor, ExecutorError
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.seed_groups import first_candidate
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.reports.formats.renderings import render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep import Sweep, Watcher


def run_study(options: argparse.Namespace) -> int:
    """Run what is missing of the study; see `sweeps.cli` for the options and exit codes."""
    study = read_study(options.study, options.overrides)
    folder = study_folder(options.storage, study.name)
    with open_journal(study, folder, replace=options.replace) as journal:
        known = {
            key: result
            for key, result in journal.results.items()
            if not (options.retry_failed and result.status == "failed")
        }
        planner = Planner(study, known)
        console = Console(stderr=True)
        for note in study.notes:
            console.print(f"Note: {note}", highlight=False)
        datasets = DatasetCache()
        check_runs(study, planner, datasets, here=_on_this_machine(options))  # before MLflow hears of the study
        with Projection(study, planner, folder, tracking_uri=options.tracking_uri) as projection:
            stopped = _sweep(options, study, planner, datasets, journal, folder, projection, console)
            if isinstance(stopped, ExecutorError) and not projection.begun:
                raise stopped
            report = build_report(study, planner.runs())
            if not (projection.up_to_date and (folder / "report").is_dir()):
                projection.finish(report, write_report(report, folder / "report"), stopped=stopped is not None)
        print(render(report, "terminal").rstrip("\n"), flush=True)
        console.print(f"Tables and figures: {folder / 'report'}   MLflow: {projection.outcome()}", highlight=False)
    if stopped:
        kept = f"{planner.done} of {planner.total} runs are done and kept"
        console.print(f"Stopped; {kept}. The same command goes on from here.", highlight=False)
        if isinstance(stopped, ExecutorError):
            raise stopped
        return STOPPED
    return FAILED if report.counts.failed else DONE


def _on_this_machine(options: argparse.Namespace) -> bool:
    return options.in_process or not (options.address or os.environ.get("RAY_ADDRESS"))


def _sweep(
    options: argparse.Namespace,
    study: Study,
    planner: Planner,
    datasets: DatasetCache,
    journal: Journal,
    folder: Path,
    projection: Projection,
    console: Console,
) -> KeyboardInterrupt | ExecutorError | None:
    """Run what the journal lacks; what stopped it, if anything did: Ctrl-C, SIGTERM, or a cluster that gave up."""
    left = planner.total - planner.done
    if left <= 0:
        console.print(f"All {planner.total} runs of {study.name} are done.", highlight=False)
        return None
    began, before = time.monotonic(), sum(result.seconds for result in planner.results.values())
    try:
        with (
            _executor(options, study, planner, datasets, console) as executor,
            _sigterm_as_interrupt(),
        ):  # Ray takes SIGTERM when it starts
            slots = executor.slots  # some may rest later
            together = "" if study.resources.seeds_per_worker == 1 else ", each with seeds together where that pays"
            console.print(
                f"{study.name}: {left} of {planner.total} runs to train, {slots} at a time{together}", highlight=False
            )
            with Progress(study, planner, console=console) as progress:
                watchers: list[Watcher] = [projection, progress, StatusFile(folder)]
                projection.on_problem = lambda problem: setattr(progress, "note", problem)
                Sweep(study, planner, executor, journal, folder, watchers).run()
                seconds = time.monotonic() - began
            trained = sum(result.seconds for result in planner.results.values()) - before
            share = trained / (seconds * slots)
            console.print(
                f"{left} runs in {duration(seconds)}; {100 * share:.0f} % of the slots' time was training.",
                highlight=False,
            )
    except (KeyboardInterrupt, ExecutorError) as error:
        return error
    return None


@contextmanager
def _executor(
    options: argparse.Namespace, study: Study, planner: Planner, datasets: DatasetCache, console: Console
) -> Iterator[Executor]:
    executor: Executor
    if options.in_process:
        from setsweep.sweeps.execution.local_executor import LocalExecutor

        executor = LocalExecutor(cpus=study.resources.cpus, datasets=datasets)
        yield executor
        executor.close()
        return
    from setsweep.sweeps.execution import cluster

    cluster.connect(options.address)
    try:
        from setsweep.sweeps.execution.ray_executor import RayExecutor

        gpus = study.resources.gpus
        if gpus == "auto":
            gpus = _measured_share(study, planner, console)
        if _on_this_machine(options):
            cluster.check_room(cpus=study.resources.cpus, gpus=gpus)
        left = planner.total - planner.done
        executor = RayExecutor(cpus=study.resources.cpus, gpus=gpus, most=left, datasets=datasets)
        try:
            yield executor
        finally:
            executor.close()
    finally:
        cluster.disconnect()


def _measured_share(study: Study, planner: Planner, console: Console) -> float:
    """What a run is given of a GPU of the cluster; 0 where there is none."""
    from setsweep.sweeps.execution import cluster

    if not cluster.has_gpus():
        console.print("There is no GPU: runs train on CPUs.", highlight=False)
        return 0.0
    console.print("How many runs share a GPU is measured as soon as one is free.", highlight=False)
    share = cluster.share_of_a_gpu(_measurement(study, planner))
    console.print(f"{round(1 / share)} runs share a GPU, as measured.", highlight=False)
    return share


def _measurement(study: Study, planner: Planner) -> Callable[[], int]:
    """How many jobs are best trained at once on a GPU, measured on the first configuration that is left."""
    from setsweep.trainables.probes.runs_per_gpu import runs_per_gpu

    example = [run.config for run in first_candidate([run for run, result in planner.runs() if result is None])]
    seeds = study.resources.seeds_per_worker
    return partial(runs_per_gpu, example, seeds=seeds, root=study.data_root, download=study.download)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """A job scheduler's SIGTERM stops a sweep as cleanly as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        sys.stderr.flush()
