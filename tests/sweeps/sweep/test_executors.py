"""Where the runs of a study are trained."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from setsweep.sweeps.execution.cluster import ClusterError
from setsweep.sweeps.execution.datasets import DatasetCache, load_base_of
from setsweep.sweeps.execution.executor import Executor, Job
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.executors import Where, opened

IN_PROCESS = Where(in_process=True)


@pytest.fixture
def tiny(tiny: Study) -> Study:
    """The same of one run."""
    return replace(tiny, confirm_seeds=tiny.confirm_seeds[:1])


@pytest.fixture
def threads() -> Iterator[None]:
    """PyTorch's number of threads is put back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def two_cpus() -> Iterator[None]:
    """A cluster of two CPUs and no GPU, started by another than Setsweep."""
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


@pytest.mark.parametrize(
    ("where", "environment", "here"),
    [
        (Where(), None, True),
        (Where(address="auto"), None, False),
        (Where(), "head:6379", False),
        (Where(), "", True),
        (IN_PROCESS, "head:6379", True),
        (Where(address="auto", in_process=True), None, True),
    ],
)
def test_runs_are_trained_here_unless_a_cluster_is_named(
    where: Where, environment: str | None, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if environment is not None:
        monkeypatch.setenv("RAY_ADDRESS", environment)
    assert where.here == here


@pytest.mark.usefixtures("threads")
def test_in_this_process_a_run_has_its_cpus_and_the_data_that_are_loaded(tiny: Study) -> None:
    study = replace(tiny, resources=Resources(cpus=2))
    planner = Planner(study)
    ((run, _),) = planner.runs()
    loads: list[Job] = []

    def load(job: Job) -> Any:
        loads.append(job)
        return load_base_of(job)

    datasets = DatasetCache(load)
    datasets.dataset(Job(configs=(run.config,)), run.config)
    with opened(IN_PROCESS, study, planner, datasets, pytest.fail) as executor:
        assert isinstance(executor, LocalExecutor)
        assert torch.get_num_threads() == 2
        executor.submit(Job(configs=(run.config,)))
        (outcome,) = executor.wait(0)
    assert outcome.key == run.key
    assert len(loads) == 1


def test_what_is_queued_is_given_up_at_the_end_however_that_comes(tiny: Study) -> None:
    planner = Planner(tiny)
    ((run, _),) = planner.runs()
    made: list[Executor] = []

    def interrupted() -> None:
        with opened(IN_PROCESS, tiny, planner, DatasetCache(), pytest.fail) as executor:
            made.append(executor)
            executor.submit(Job(configs=(run.config,)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert made[0].wait(0) == []


@pytest.mark.usefixtures("two_cpus")
def test_a_run_that_does_not_fit_on_this_machine_is_told(tiny: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    study = replace(tiny, resources=Resources(cpus=3))
    with (
        pytest.raises(ClusterError, match=r"with 2 CPUs and 0 GPUs, got 3 CPUs and 0 GPUs a run\.$"),
        opened(Where(), study, Planner(study), DatasetCache(), pytest.fail),
    ):
        pass


@pytest.mark.usefixtures("two_cpus")
@pytest.mark.timeout(120)
def test_on_a_cluster_without_a_gpu_a_measured_share_is_none_and_slots_are_no_more_than_runs(
    tiny: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    study = replace(tiny, resources=Resources(gpus="auto"))
    planner = Planner(study)
    ((run, _),) = planner.runs()
    said: list[str] = []
    say: Callable[[str], None] = said.append
    with opened(Where(), study, planner, DatasetCache(), say) as executor:
        assert executor.slots == 1
        executor.submit(Job(configs=(run.config,)))
        outcomes: list[Any] = []
        while not outcomes:
            outcomes = executor.wait(10)
    assert [(outcome.key, outcome.status) for outcome in outcomes] == [(run.key, "done")]
    assert said == ["There is no GPU: runs train on CPUs."]
