"""The executor on a real Ray cluster: the same results as in process, through the death of any worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray

from data.arrays import from_arrays
from sweeps.execution import ray_executor
from sweeps.execution.executor import ExecutorError, Job
from sweeps.execution.local_executor import LocalExecutor
from sweeps.execution.mailbox import MailboxAddress
from sweeps.execution.ray_executor import RayExecutor
from trainables.run_config import RunResult

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(200)]

LONG = {"epochs": 250, "batch_size": 64, "evaluate_every": 250}


class Bomb:
    """Takes the place of a job's model folder and kills the process that unpacks it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


class KillsOneSlot:
    """Kills the process of one slot with signal 9 when all slots have been training for half a second."""

    def __init__(self, executor: RayExecutor) -> None:
        self.executor = executor
        self.killed: int | None = None

    def __call__(self) -> None:
        training = self.executor._mailbox._training
        if self.killed is None and len(training) == self.executor.slots:
            time.sleep(0.5)
            self.killed = _slots()[0]
            os.kill(self.killed, signal.SIGKILL)


@pytest.fixture(scope="module")
def trained(make_job: Any, train: Any) -> tuple[RayExecutor, list[Job], dict[str, RunResult]]:
    """Jobs on two data sets, one of which is shared, with their results."""
    jobs = [make_job(seed) for seed in range(3)]
    jobs += [make_job(0, data={"name": "circle"}, model={"name": "linear"}, loss={"name": "avgk"})]
    executor = RayExecutor()
    return executor, jobs, train(executor, *jobs)


def test_results_are_equal_to_the_bit_to_those_in_process(trained: Any, train: Any, same: Any) -> None:
    _, jobs, on_ray = trained
    in_process = train(LocalExecutor(), *jobs)
    for job in jobs:
        assert on_ray[job.config.key].status == "done"
        assert same(on_ray[job.config.key]) == same(in_process[job.config.key])


def test_shared_data_are_in_the_object_store_once_and_mapped_by_workers(trained: Any) -> None:
    executor, _, _ = trained
    [(reference, _)] = executor._data.values()
    assert ray.get(_mapped.remote([reference]))


@pytest.mark.slow  # it must catch a worker in the middle of a run, which a busy machine does not always let it
def test_a_run_whose_worker_is_killed_is_trained_again_with_the_same_result(
    make_job: Any, train: Any, same: Any, tmp_path: Path
) -> None:
    jobs = [make_job(seed, checkpoint=tmp_path / f"{seed}.pt", training=LONG) for seed in range(2)]
    executor = RayExecutor()
    kill = KillsOneSlot(executor)
    on_ray = train(executor, *jobs, meanwhile=kill)
    in_process = train(LocalExecutor(), *jobs)
    assert kill.killed is not None
    assert sorted(result.attempts for result in on_ray.values()) == [1, 2]
    assert {key: same(result) for key, result in on_ray.items()} == {
        key: same(result) for key, result in in_process.items()
    }


def test_a_job_that_kills_its_worker_every_time_fails_and_the_others_go_on(make_job: Any, train: Any) -> None:
    deadly = make_job(0, keep_model=Bomb())
    results = train(RayExecutor(most=2), deadly, *(make_job(seed) for seed in range(1, 5)))
    assert [result.key for result in results.values() if result.status != "done"] == [deadly.config.key]
    failed = results[deadly.config.key]
    assert (failed.status, failed.attempts, failed.reason) == ("failed", 3, "the worker died in each of 3 attempts")


def test_data_that_cannot_be_read_fail_the_run_with_their_reason(make_job: Any, train: Any, tmp_path: Path) -> None:
    job = make_job(0, data={"name": "cifar100"}, model={"name": "small_cnn"})
    job = Job(config=job.config, root=str(tmp_path))
    [result] = train(RayExecutor(most=1), job).values()
    assert result.status == "failed"
    assert "DataError" in str(result.reason)


@pytest.mark.slow
def test_slots_that_cannot_start_end_the_sweep_with_the_reason(
    make_job: Any, train: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = MailboxAddress("127.0.0.1", 1, b"")
    monkeypatch.setattr(ray_executor, "serve", lambda mailbox, host: nobody)
    with pytest.raises(ExecutorError, match=r"slots must stay alive.*(?s:.*)ConnectionRefusedError"):
        train(RayExecutor(most=1), make_job(0))


@pytest.fixture
def same() -> Callable[[RunResult], dict[str, Any]]:
    """What of a result the configuration decides: all but times, places and attempts."""

    def decided(result: RunResult) -> dict[str, Any]:
        plain = result.to_dict()
        return {
            name: plain[name] for name in ("key", "status", "metrics", "best_epoch", "epochs", "curves", "thresholds")
        }

    return decided


@ray.remote
def _mapped(references: list[Any]) -> bool:
    """Whether the tensors of a data set in the object store lie in shared memory."""
    inputs = from_arrays(ray.get(references[0])).train.inputs
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(address, 16) for address in line.split()[0].split("-"))
        if start <= inputs.data_ptr() < end:
            return "plasma" in line or "/dev/shm" in line
    return False


def _slots() -> list[int]:
    """The processes of our slots: descendants of this process that Ray has named after what Tune makes of `Slot`."""
    processes = [folder for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    found = [int(each.name) for each in processes if _read(each / "cmdline").startswith("ray::ResourceTrainable")]
    return [pid for pid in sorted(found) if os.getpid() in _ancestors(pid)]


def _ancestors(pid: int) -> list[int]:
    found = []
    while pid > 1:
        status = _read(Path(f"/proc/{pid}/stat"))
        pid = int(status.rpartition(")")[2].split()[1]) if status else 0
        found.append(pid)
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
