"""``setsweep plan``: what a study would run, how long and with how much memory, from a short measurement."""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import resource
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from sweeps.execution.datasets import DatasetCache
from sweeps.execution.executor import Job
from sweeps.planning.planner import Planner
from sweeps.planning.study import Study
from sweeps.planning.study_reader import read_study
from sweeps.progress import duration
from sweeps.records.journal import Journal
from sweeps.storage import study_folder
from trainables.run_config import RunConfig, Training
from trainables.warm_up import warm_up

PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Cost:
    """What one run of an arm takes.

    Args:
        seconds: of training and evaluation.
        mebibytes: peak memory of a process that trains one such run.
    """

    seconds: float
    mebibytes: float


def plan_study(options: argparse.Namespace) -> int:
    """Print the plan; nothing is recorded."""
    study = read_study(options.study, options.overrides)
    known = Journal(study_folder(options.storage, study.name), read_only=True).results
    planner = Planner(study, known)
    slots = options.slots or max(1, int((os.cpu_count() or 1) / max(study.resources.cpus, 1e-9)))
    console = Console()
    table = Table(box=None, title=f"{study.name}: {planner.total} runs", title_justify="left")
    for heading in ("arm", "search", "confirm", "runs", "done", "a run takes", "memory"):
        table.add_column(heading, justify="left" if heading == "arm" else "right")
    seconds = 0.0
    for arm in study.arms:
        runs = planner.total_of(arm)
        done = sum(result is not None for run, result in planner.runs() if run.arm == arm)
        cost = measure(study, _example(study, arm))
        seconds += cost.seconds * (runs - done)
        table.add_row(
            arm, *_counts(study, arm), str(runs), str(done), _precise(cost.seconds), f"{cost.mebibytes:.0f} MiB"
        )
    console.print(table)
    console.print(
        f"About {duration(seconds)} of training: {duration(seconds / slots)} on {slots} slots of "
        f"{study.resources.cpus:g} CPU and {_amount(study.resources.gpus)} GPU, and some seconds to start. "
        "Nothing was recorded."
    )
    return 0


def measure(study: Study, config: RunConfig) -> Cost:
    """Train a little of one run in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_probe, (config, study.data_root, study.download, max(1, int(study.resources.cpus))))


def _probe(config: RunConfig, root: str | None, download: bool, threads: int) -> Cost:
    import torch

    torch.set_num_threads(threads)
    warm_up()
    datasets = DatasetCache()
    epochs, started, result = 1, time.monotonic(), None
    while True:
        short = dataclasses.replace(config, training=_shortened(config, epochs))
        (result,) = datasets.train(Job(configs=(short,), root=root, download=download))
        if result.status == "failed":
            raise ValueError(result.reason)
        if epochs >= config.training.epochs or time.monotonic() - started > PROBE_SECONDS:
            break
        epochs = min(config.training.epochs, 4 * epochs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mebibytes = peak / (2**20 if sys.platform == "darwin" else 2**10)
    return Cost(seconds=result.seconds * config.training.epochs / epochs, mebibytes=mebibytes)


def _shortened(config: RunConfig, epochs: int) -> Training:
    milestones = tuple(milestone for milestone in config.training.milestones if milestone < epochs)
    return dataclasses.replace(config.training, epochs=epochs, milestones=milestones, patience=None)


def _example(study: Study, arm: str) -> RunConfig:
    """The first run that an arm would make from nothing."""
    return next(run.config for run, _ in Planner(study).runs() if run.arm == arm)


def _counts(study: Study, arm: str) -> tuple[str, str]:
    points = len(study.points())
    times = f"{points} x " if points > 1 else ""
    search = "-"
    if study.search is not None and study.arms[arm].searched:
        search = f"{times}{study.search.trials} trials x {len(study.search.seeds)} seeds"
    return search, f"{times}{len(study.confirm_seeds)} seeds"


def _amount(gpus: float | str) -> str:
    return "a measured share of a" if isinstance(gpus, str) else f"{gpus:g}"


def _precise(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else duration(seconds)
