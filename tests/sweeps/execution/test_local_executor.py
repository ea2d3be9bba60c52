"""The executor in this process."""

from __future__ import annotations

from typing import Any

import torch

from setsweep.sweeps.execution.local_executor import LocalExecutor


def test_jobs_are_trained_one_after_the_other_in_order(make_job: Any) -> None:
    executor = LocalExecutor()
    jobs = [make_job(seed) for seed in range(3)]
    for job in jobs:
        executor.submit(job)
    assert [[result.key for result in executor.wait(0)] for _ in range(4)] == [[job.key] for job in jobs] + [[]]


def test_an_error_is_a_failed_result_and_the_next_job_goes_on(make_job: Any, train: Any) -> None:
    broken = make_job(0, data={"name": "circle"}, model={"name": "small_cnn"})  # a network for images on points
    results = train(LocalExecutor(), broken, make_job(1))
    assert [result.status for result in results.values()] == ["failed", "done"]
    assert "ValueError" in str(results[broken.key].reason)


def test_shared_data_are_loaded_once(make_job: Any, train: Any) -> None:
    executor = LocalExecutor()
    train(executor, *(make_job(seed) for seed in range(2)))
    assert len(executor._runner._datasets._bases) == 1


def test_a_run_has_as_many_threads_as_cpus() -> None:
    before = torch.get_num_threads()
    try:
        LocalExecutor(cpus=2)
        assert torch.get_num_threads() == 2
        LocalExecutor(cpus=0.5)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
