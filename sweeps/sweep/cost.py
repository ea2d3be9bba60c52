"""What a run takes, from a short measurement in a process of its own, or as it was measured on another machine."""

from __future__ import annotations

import dataclasses
import multiprocessing
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.evaluation.kept.score_store import most_bytes
from setsweep.trainables.probes.steps import run_seconds
from setsweep.trainables.settings.rules import real
from setsweep.trainables.settings.yaml_text import YamlError, dump_yaml, read_yaml
from setsweep.trainables.warm_up import warm_up

PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Cost:
    """What one run of an arm takes.

    Args:
        seconds: of training and evaluation; its share, where seeds train side by side.
        mebibytes: peak memory of a process that trains one such run, or as many seeds as train side by side.
        scores: bytes that its scores take at most, were they kept; None: not known.
    """

    seconds: float
    mebibytes: float
    scores: int | None = None


def can_be_measured(study: Study) -> bool:
    """Whether runs train here as they will: not where they are to have a GPU, and there is none."""
    wants = study.resources.gpus not in (0, "auto") or study.training.get("device") == "cuda"
    return not wants or torch.cuda.is_available()


def save_rates(path: Path, study: Study, costs: Mapping[str, Cost], configs: Mapping[str, RunConfig]) -> None:
    """Write what was measured, for a plan on another machine. Raises ValueError: the file can't be written."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    plain = {
        "study": study.name,
        "device": device,
        "seconds_per_epoch": {arm: cost.seconds / configs[arm].training.epochs for arm, cost in costs.items()},
        "mebibytes": {arm: cost.mebibytes for arm, cost in costs.items()},
    }
    try:
        path.write_text(dump_yaml(plain), encoding="utf-8")
    except OSError as error:
        raise ValueError(
            f"--save-rate must be a file that can be written, got {str(path)!r}: {error.strerror}."
        ) from None


def read_rates(path: Path, study: Study, configs: Mapping[str, RunConfig]) -> dict[str, Cost]:
    """The costs of the runs of each arm by a file that `save_rates` has written.

    Raises:
        ValueError: no such file, another one, or an arm that it lacks.
    """
    plain = _rates(path)
    seconds, mebibytes = (plain.get(name) or {} for name in ("seconds_per_epoch", "mebibytes"))
    missing = [arm for arm in study.arms if arm not in seconds]
    if missing:
        raise ValueError(
            f"--rate must have seconds_per_epoch of every arm, got none of {', '.join(missing)} in {str(path)!r}."
        )
    found = {}
    for arm in study.arms:
        try:
            rate, memory = (real(above=0).check(values.get(arm, 1)) for values in (seconds, mebibytes))
        except ValueError as error:
            raise ValueError(f"--rate: {arm} of {str(path)!r} {error}") from None
        found[arm] = Cost(rate * configs[arm].training.epochs, memory if arm in mebibytes else float("nan"))
    return found


def _rates(path: Path) -> dict[str, Any]:
    try:
        plain, _ = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, YamlError, UnicodeDecodeError) as error:
        raise ValueError(
            f"--rate must be a file that 'plan --save-rate' has written, got {str(path)!r}: {error}"
        ) from None
    if not isinstance(plain, dict) or not isinstance(plain.get("seconds_per_epoch"), dict):
        raise ValueError(f"--rate must be a file that 'plan --save-rate' has written, got {str(path)!r}.")  # noqa: TRY004
    return plain


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
