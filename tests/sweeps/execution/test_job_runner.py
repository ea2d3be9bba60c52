"""What a process does with a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import GroupSize, Job
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.trainables.config.run_config import KeepModel

MakeJob = Callable[..., Job]


@pytest.fixture
def runner() -> JobRunner:
    return JobRunner(DatasetCache())


@pytest.fixture
def pair(make_job: MakeJob) -> Job:
    """Two seeds in one job."""
    return Job(configs=tuple(make_job(seed).configs[0] for seed in (1, 0)))


def test_results_say_at_which_attempt_they_came(runner: JobRunner, pair: Job) -> None:
    results = runner.train(replace(pair, attempts=2))
    assert [result.key for result in results] == [config.key for config in pair.configs]
    assert [(result.status, result.attempts) for result in results] == [("done", 2)] * 2


def test_the_models_that_are_wanted_are_kept(runner: JobRunner, pair: Job, tmp_path: Path) -> None:
    keep = KeepModel(folder=tmp_path / "kept", criterion="avg1_accuracy")
    assert [each.key for each in runner.run(replace(pair, keep_models=(None, keep)))] == list(pair.outcome_keys)
    assert [path.parent.name for path in tmp_path.rglob("model.pt")] == ["kept"]


def test_a_probe_of_runs_that_cannot_be_trained_recommends_one(
    runner: JobRunner, pair: Job, make_job: MakeJob, tmp_path: Path
) -> None:
    """What is wrong shows, and is recorded, when they are trained."""
    gone: dict[str, Any] = {"data": {"name": "image_folder", "folder": str(tmp_path / "nothing")}}
    probe = Job(configs=tuple(make_job(seed, **gone).configs[0] for seed in (0, 1)), probe=True)
    assert runner.run(probe) == [GroupSize(key=probe.key, seeds=1)]
