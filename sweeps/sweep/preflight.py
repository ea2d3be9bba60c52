"""Tries every kind of run that a study has left, before any is trained: data that can't be read and parts that don't
fit end the command with their reason, instead of failing run after run.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch

from setsweep.data.files import DataError
from setsweep.data.trust import check_trusted
from setsweep.data.user_function import is_own
from setsweep.sweeps.execution.datasets import DatasetCache, base_key
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.cost import can_be_measured, measure
from setsweep.trainables.conformal.calibration import check_calibration
from setsweep.trainables.device import find_device
from setsweep.trainables.probes.fit import check_fit
from setsweep.trainables.probes.steps import run_seconds
from setsweep.trainables.settings.yaml_text import read_yaml

MOMENT, MOST_SECONDS = 0.1, 3.0  # that an arm is measured, and that all of them together may be
MANY_EPOCHS = 10_000  # of fewer nobody waits for a year unawares
YEAR = 365 * 86400


def check_runs(study: Study, planner: Planner, datasets: DatasetCache, *, here: bool) -> None:
    """Check the first run of each kind that has no result yet.

    Args:
        study: for messages, and where its data lies.
        planner: knows the runs.
        datasets: gets the shared data, for the executor to use.
        here: whether runs train on this machine, so that its devices must be those they ask for.

    Raises:
        ValueError: a run can't be trained; says which arm's and why.
    """
    check_functions(study)
    tried: set[str] = set()
    for run, result in planner.runs():
        if result is None and (kind := _kind(run)) not in tried:
            tried.add(kind)
            _try(study, run, datasets, here=here)


def forecast(study: Study, planner: Planner, datasets: DatasetCache) -> float | None:
    """About how many seconds of training are left on this machine's CPUs, one run after the other, from some steps.

    Each arm that has something left is given a moment, as long as that takes no more than some seconds in all; the
    others are taken to be as long as these are on average. None where runs train on GPUs, or nothing is left.
    """
    if study.resources.gpus != 0:
        return None
    left = {arm: planner.counts(arm).left for arm in study.arms if planner.counts(arm).left > 0}
    runs = {run.arm: run for run, result in reversed(planner.runs()) if result is None}
    seconds: dict[str, float] = {}
    threads, began = torch.get_num_threads(), time.monotonic()
    torch.set_num_threads(max(1, int(study.resources.cpus)))
    try:
        for arm in left:
            if arm in runs and time.monotonic() - began < MOST_SECONDS:
                seconds[arm] = _seconds(study, runs[arm], datasets)
    except Exception:  # noqa: BLE001 - a run that can't be trained says so itself, and nothing else waits for this
        return None
    finally:
        torch.set_num_threads(threads)
    usual = sum(seconds.values()) / len(seconds) if seconds else None
    return None if usual is None else sum(seconds.get(arm, usual) * count for arm, count in left.items())


def _seconds(study: Study, run: PlannedRun, datasets: DatasetCache) -> float:
    job = Job(configs=(run.config,), root=study.data_root, download=study.download)
    return run_seconds([run.config], [datasets.dataset(job, run.config)], seconds=MOMENT)


def check_functions(study: Study) -> None:
    """Whether the functions that a study names may be called, before anything of them is imported.

    Raises:
        ValueError: one lies neither in the study's folder nor in what the user allows.
    """
    named = [("data", study.data["name"]), ("model", study.model["name"])]
    named += [("loss", arm.loss) for arm in study.arms.values()] + [("metrics", name) for name in study.metrics]
    for section, name in named:
        if is_own(name):
            try:
                check_trusted(name, section, [Path(study.path).parent])
            except ValueError as error:
                raise ValueError(f"{study.path}: {error}") from None


def _try(study: Study, run: PlannedRun, datasets: DatasetCache, *, here: bool) -> None:
    config = run.config
    job = Job(configs=(config,), root=study.data_root, download=study.download)
    try:
        if here:
            find_device(config.training.device)
        dataset = datasets.dataset(job, config)
        check_calibration(study.coverage, dataset)  # before a search, whose runs make no conformal sets
        check_fit(config, dataset)
        _check_time(study, run)
    except ValueError as error:
        point = "".join(f", {path} = {value}" for path, value in run.point.items())
        raise ValueError(f"{_place(study, error)}: {run.arm}{point}: {error}") from error


def _place(study: Study, error: ValueError) -> str:
    """The study's file, with the line of what an error is about where that can be told: ``fashion.yaml:3``."""
    field = "data" if isinstance(error, DataError) else str(error).partition(" ")[0].rstrip(":")
    try:
        _, lines = read_yaml(Path(study.path).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a bundled study, or one that is no file
        return study.path
    path = tuple(field.split("."))
    while path and path not in lines:
        path = path[:-1]
    return f"{study.path}:{lines[path]}" if path else study.path


def _check_time(study: Study, run: PlannedRun) -> None:
    """Raise ValueError for a run that would take more than a year, as it is measured: one of very many epochs."""
    if run.config.training.epochs <= MANY_EPOCHS or not can_be_measured(study):
        return
    seconds = measure(study, [run.config]).seconds
    if seconds > YEAR:
        rule = "training.epochs must be so many that a run ends within a year"
        raise ValueError(f"{rule}, got {run.config.training.epochs:,}, which take {seconds / YEAR:.3g} years here.")


def _kind(run: PlannedRun) -> str:
    """What runs have in common of which one tells for all."""
    config, training = run.config, run.config.training
    loss = {name: value for name, value in config.loss.items() if name in ("name", "k")}
    parts: list[Any] = [base_key(config.data) or config.data, config.model, loss]
    parts += [
        training.epochs > MANY_EPOCHS and training.epochs,
        training.batch_size,
        vars(training.augment),
        training.device,
        config.data.get("calibration"),
    ]
    return json.dumps(parts, sort_keys=True, default=dict)
