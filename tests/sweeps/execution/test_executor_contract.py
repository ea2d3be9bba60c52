"""What every executor promises (`Executor`), on each of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.sweeps.execution.executor import Executor, GroupSize, Job, Outcome
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor
from setsweep.trainables.attempt import attempt
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import train

PATIENCE = 90.0


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As many as a slot with one CPU has: sums of two threads differ in the last bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _outcome(config: RunConfig) -> RunResult:
    return attempt([config], lambda each: load_dataset(each.data, seed=each.seed))[0]


@pytest.fixture(params=["local", "simulated", "ray"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor with one slot."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
        from setsweep.sweeps.execution.ray_executor import RayExecutor

        made: Executor = RayExecutor(most=1)
    else:
        made = LocalExecutor() if request.param == "local" else SimulatedExecutor(_outcome, slots=1)
    with contextlib.closing(made):
        yield made


@pytest.fixture
def group(make_job: Callable[..., Job]) -> Job:
    """Three seeds of one configuration in one job."""
    return Job(configs=tuple(make_job(seed).configs[0] for seed in (7, 3, 5)))


def _answers(executor: Executor, count: int) -> list[list[Outcome]]:
    """The answers that hold so many outcomes, without the empty ones."""
    answers: list[list[Outcome]] = []
    deadline = time.monotonic() + PATIENCE
    while sum(map(len, answers)) < count:
        assert time.monotonic() < deadline, f"{count} outcomes never came, but {answers}"
        answers += [answer] if (answer := executor.wait(0.2)) else []
    return answers


def _keys(answers: list[list[Outcome]]) -> list[str]:
    return [outcome.key for answer in answers for outcome in answer]


def test_jobs_are_done_in_the_order_in_which_they_were_submitted(executor: Executor, make_job: Any) -> None:
    assert executor.slots == 1
    jobs = [make_job(seed) for seed in (4, 2, 9)]
    for job in jobs:
        executor.submit(job)
    assert _keys(_answers(executor, 3)) == [job.key for job in jobs]
    assert executor.wait(0) == []


def test_the_outcome_is_that_of_the_configuration(executor: Executor, make_job: Any) -> None:
    job = make_job(1)
    executor.submit(job)
    ((result,),) = _answers(executor, 1)
    expected = train(job.configs[0])
    assert isinstance(result, RunResult)
    assert (result.status, result.key, result.attempts) == ("done", job.key, 1)
    assert (result.metrics, result.curves, result.thresholds) == (
        expected.metrics,
        expected.curves,
        expected.thresholds,
    )


def test_the_outcomes_of_a_job_come_together_and_in_its_order(executor: Executor, group: Job, make_job: Any) -> None:
    executor.submit(group)
    executor.submit(make_job(0))
    answers = _answers(executor, 4)
    keys = [config.key for config in group.configs]
    assert _keys(answers) == [*keys, make_job(0).key]
    assert any(keys == [outcome.key for outcome in answer[:3]] for answer in answers)


def test_an_error_is_the_failure_of_the_run_and_the_next_job_is_done(executor: Executor, make_job: Any) -> None:
    broken = make_job(0, data={"name": "circle"}, model={"name": "small_cnn"})  # a network for images on points
    executor.submit(broken)
    executor.submit(make_job(1))
    first, second = [outcome for answer in _answers(executor, 2) for outcome in answer]
    assert isinstance(first, RunResult)
    assert isinstance(second, RunResult)
    assert (first.key, first.status, first.cause) == (broken.key, "failed", "error")
    assert "ValueError: model small_cnn must get images" in str(first.reason)
    assert second.status == "done"


def test_data_that_cannot_be_read_fail_the_run(executor: Executor, make_job: Any, tmp_path: Any) -> None:
    job = make_job(0, data={"name": "image_folder", "folder": str(tmp_path / "nothing")})
    executor.submit(job)
    ((result,),) = _answers(executor, 1)
    assert isinstance(result, RunResult)
    assert (result.status, result.key) == ("failed", job.key)
    assert "DataError: Folder" in str(result.reason)


def test_a_probe_has_one_outcome_under_its_own_key(executor: Executor, group: Job) -> None:
    probe = replace(group, probe=True)
    executor.submit(probe)
    ((size,),) = _answers(executor, 1)
    assert isinstance(size, GroupSize)
    assert size.key == probe.key
    assert 1 <= size.seeds <= 3
    assert executor.wait(0) == []


def test_what_is_not_finished_is_given_up_at_the_end_and_closing_again_does_no_harm(
    executor: Executor, make_job: Any
) -> None:
    for seed in range(3):
        executor.submit(make_job(seed, training={"epochs": 1000, "batch_size": 4}))
    started = time.monotonic()
    executor.close()
    executor.close()
    assert time.monotonic() - started < 30


def test_while_a_run_trains_its_evaluations_are_told(executor: Executor, make_job: Any) -> None:
    told: list[Moment] = []
    executor.listen(told.extend)
    job = make_job(1)
    executor.submit(job)
    ((result,),) = _answers(executor, 1)
    assert isinstance(result, RunResult)
    if isinstance(executor, SimulatedExecutor):
        assert told == []  # which has no epochs
        return
    assert (told[0].key, told[0].epochs) == (job.key, job.configs[0].training.epochs)
    for each in told:
        assert {name: result.curves[name][each.epoch - 1] for name in each.metrics} == each.metrics
