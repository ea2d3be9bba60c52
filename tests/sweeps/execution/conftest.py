"""A Ray cluster of two CPUs for the tests of a module, and jobs that train in a moment."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.executor import Executor, Job
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster on this machine, with two CPUs whatever it has."""
    from setsweep.sweeps.execution import cluster

    cluster.connect(None, cpus=2)
    yield
    cluster.disconnect()


@pytest.fixture(scope="module")
def make_job() -> Callable[..., Job]:
    """Calls give a job on digits; keyword arguments are the job's own, or replace sections of its configuration."""

    def make(seed: int = 0, *, checkpoint: Path | None = None, keep_model: Any = None, **sections: Any) -> Job:
        plain: dict[str, Any] = {
            "data": {"name": "digits", "label_noise": 0.1},
            "model": {"name": "mlp", "hidden": 16},
            "loss": {"name": "cross_entropy"},
            "training": {"epochs": 2, "batch_size": 64},
            "k": [1, 2],
        }
        config = complete_config({**plain, **sections, "seed": seed})
        return Job(configs=(config,), checkpoint=checkpoint, keep_models=(keep_model,))

    return make


@pytest.fixture(scope="module")
def train() -> Callable[..., dict[str, RunResult]]:
    """Calls train jobs on an executor, close it, give the results by run key; `meanwhile` is called now and then."""

    def run(
        executor: Executor, *jobs: Job, meanwhile: Callable[[], object] = lambda: None, patience: float = 90.0
    ) -> dict[str, RunResult]:
        with contextlib.closing(executor):
            for job in jobs:
                executor.submit(job)
            results: dict[str, RunResult] = {}
            deadline = time.monotonic() + patience
            while len(results) < len(jobs):
                assert time.monotonic() < deadline, f"{len(jobs) - len(results)} results never came"
                results |= {result.key: result for result in executor.wait(0.2)}
                meanwhile()
            return results

    return run
