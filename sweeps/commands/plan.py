"""``setsweep plan``: what a study would run, how long and with how much memory, from a short measurement."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE, read_study
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.execution.capacity import room
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.race import rungs
from setsweep.sweeps.planning.seed_groups import first_candidate
from setsweep.sweeps.records.study_folder import stored_planner, study_folder
from setsweep.sweeps.reports.foresight import smallest_difference
from setsweep.sweeps.study.design import design
from setsweep.sweeps.study.study import Resources, Study
from setsweep.sweeps.sweep.preflight import check_functions
from setsweep.sweeps.sweep.progress import duration
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.evaluation.score_store import most_bytes
from setsweep.trainables.probes.steps import run_seconds
from setsweep.trainables.warm_up import warm_up

PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Cost:
    """What one run of an arm takes.

    Args:
        seconds: of training and evaluation; its share, where seeds train side by side.
        mebibytes: peak memory of a process that trains one such run, or as many seeds as train side by side.
        scores: bytes that its scores take at most, were they kept.
    """

    seconds: float
    mebibytes: float
    scores: int


def command(
    study: str,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    storage: str = DEFAULT_STORAGE,
    slots: int | None = None,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Print what a study would run, how long and with how much memory; nothing is recorded.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        storage: folder or file:// URL where its results are kept, if there are any.
        slots: runs at once; default: what this machine has room for.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    print_plan(read_study(study, overrides or ()), storage=storage, slots=slots)
    return DONE


def print_plan(study: Study, *, storage: str, slots: int | None = None) -> None:
    """See `command`."""
    planner = stored_planner(study, study_folder(storage, study.name))
    study = planner.study
    check_functions(study)
    if slots is not None and slots < 1:
        raise ValueError(f"--slots must be >= 1, got {slots}.")
    slots = slots or _slots(study.resources)
    console = Console()
    runs_planned = f"{planner.total}" if planner.most == planner.total else f"{planner.total} to {planner.most}"
    table = Table(box=None, title=f"{study.name}: {runs_planned} runs", title_justify="left")
    varied = ["sensitivity"] if study.sensitivity else []
    for heading in ("arm", "search", "confirm", *varied, "runs", "done", "a run takes", "memory"):
        table.add_column(heading, justify="left" if heading == "arm" else "right")
    seconds = scores = 0.0
    for arm in study.arms:
        runs = planner.total_of(arm)
        done = sum(result is not None for run, result in planner.runs() if run.arm == arm)
        cost = measure(study, _example(study, arm))
        seconds += cost.seconds * (runs - done)
        scores += cost.scores * _kept(planner, arm, runs) / 2**30
        table.add_row(
            arm, *_counts(study, arm), str(runs), str(done), _precise(cost.seconds), f"{cost.mebibytes:.0f} MiB"
        )
    console.print(table)
    console.print(
        f"About {duration(seconds)} of training: {duration(seconds / slots)} on {slots} slots of "
        f"{study.resources.cpus:g} CPU and {_amount(study.resources.gpus)} GPU, and some seconds to start. "
        "Nothing was recorded."
    )
    if seen := smallest_difference(study, planner.runs()):
        console.print(seen)
    if study.keep.scores != "none":
        console.print(f"Scores kept: at most {scores:.2g} GiB, of {study.keep.limit:g} GiB that they may take.")


def _kept(planner: Planner, arm: str, runs: int) -> int:
    """Of so many runs of an arm, how many keep their scores."""
    keep = planner.study.keep.scores
    if keep == "all":
        return runs
    searched = sum(run.stage == "search" for run, _ in planner.runs() if run.arm == arm)
    return 0 if keep == "none" else runs - searched


def measure(study: Study, configs: Sequence[RunConfig]) -> Cost:
    """Train a little of one configuration in a process of its own: of one seed, or of as many as train side by side."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_probe, (configs, study.data_root, study.download, study.resources))


def _probe(configs: Sequence[RunConfig], root: str | None, download: bool, resources: Resources) -> Cost:
    torch.set_num_threads(max(1, int(resources.cpus)))
    warm_up()
    datasets = DatasetCache()
    team, config = configs[: _together(configs, root, download, resources, datasets)], configs[0]
    seconds = _from_steps(team, datasets, root, download)
    if seconds is None or seconds / config.training.epochs < PROBE_SECONDS:
        seconds = _from_epochs(team, datasets, root, download)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mebibytes = peak / (2**20 if sys.platform == "darwin" else 2**10)
    scores = most_bytes(config, datasets.dataset(Job(configs=(config,), root=root, download=download), config))
    return Cost(seconds=seconds, mebibytes=mebibytes, scores=scores)


def _from_steps(team: Sequence[RunConfig], datasets: DatasetCache, root: str | None, download: bool) -> float | None:
    """The seconds of a run, from some steps and pieces of an evaluation: for epochs too long to be tried.

    None where the memory runs out: whole epochs are tried with fewer seeds together.
    """
    job = Job(configs=tuple(team), root=root, download=download)
    try:
        return run_seconds(team, [datasets.dataset(job, config) for config in team], seconds=PROBE_SECONDS)
    except torch.OutOfMemoryError:
        return None


def _from_epochs(team: Sequence[RunConfig], datasets: DatasetCache, root: str | None, download: bool) -> float:
    """The seconds of a run, from as many whole epochs as the time allows."""
    config, epochs, started = team[0], 1, time.monotonic()
    while True:
        short = [dataclasses.replace(each, training=_shortened(config, epochs)) for each in team]
        result, *_ = JobRunner(datasets).train(Job(configs=tuple(short), root=root, download=download))
        if result.status == "failed":
            raise ValueError(result.reason)
        if epochs >= config.training.epochs or time.monotonic() - started > PROBE_SECONDS:
            return result.seconds * config.training.epochs / epochs
        epochs = min(config.training.epochs, 4 * epochs)


def _together(
    configs: Sequence[RunConfig], root: str | None, download: bool, resources: Resources, datasets: DatasetCache
) -> int:
    """How many of the seeds train side by side, measured where the study leaves that to a measurement."""
    if resources.seeds_per_worker != "auto":
        return resources.seeds_per_worker
    probe = Job(configs=tuple(configs), root=root, download=download, probe=True)
    return JobRunner(datasets).group_size(probe)


def _shortened(config: RunConfig, epochs: int) -> Training:
    milestones = tuple(milestone for milestone in config.training.milestones if milestone < epochs)
    return dataclasses.replace(config.training, epochs=epochs, milestones=milestones, patience=None)


def _example(study: Study, arm: str) -> list[RunConfig]:
    """The seeds of the first configuration that an arm would train from nothing."""
    return [run.config for run in first_candidate([run for run, _ in Planner(study).runs() if run.arm == arm])]


def _slots(resources: Resources) -> int:
    """How many runs this machine has room for; of a share of a GPU that is yet to be measured, one to a GPU."""
    gpus = 1 if resources.gpus == "auto" and torch.cuda.is_available() else resources.gpus
    cpus, devices = os.cpu_count() or 1, torch.cuda.device_count()
    fit = room(cpus, devices, cpus=resources.cpus, gpus=0 if gpus == "auto" else gpus)
    if fit:
        return fit
    there, wanted = f"{cpus} CPUs and {devices} GPUs", f"{resources.cpus:g} CPUs and {_amount(gpus)} GPUs a run"
    rule = f"must fit on this machine, with {there}, got {wanted}"
    raise ValueError(f"resources {rule}. For a cluster, --slots says how many it has room for.")


def _counts(study: Study, arm: str) -> tuple[str, ...]:
    points = len(study.points())
    times = f"{points} x " if points > 1 else ""
    search, chosen = "-", ""
    if study.search is not None and study.arms[arm].searched:
        own = study.search
        seeds = own.seeds_of(study.arms[arm])
        stages = rungs(own.trials_of(study.arms[arm]), len(seeds), own.race)
        search = f"{times}{stages[0].trials} trials x {stages[0].seeds} seeds"
        search += "".join(f", {rung.trials} x {rung.seeds}" for rung in stages[1:])
        confirmed = (own.front if own.further else 1) + study.confirm.default
        chosen = f"{confirmed} x " if confirmed > 1 else ""
    most = "" if study.confirm.half_width is None else f" to {study.confirm.most}"
    confirm = f"{times}{chosen}{len(study.confirm_seeds)}{most} seeds"
    return (search, confirm, *_varied(study, arm, times))


def _varied(study: Study, arm: str, times: str) -> tuple[str, ...]:
    """What a sensitivity study takes; nothing where there is none."""
    if study.sensitivity is None:
        return ()
    points = len(design(study.sensitivity, study.arms[arm]))
    return (f"{times}{points} values x {len(study.sensitivity.seeds)} seeds" if points else "-",)


def _amount(gpus: float | str) -> str:
    return "a measured share of a" if isinstance(gpus, str) else f"{gpus:g}"


def _precise(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else duration(seconds)
