"""The executor on a real Ray cluster: the same results as in process, through the death of any worker."""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray
from ray import cloudpickle

from setsweep.data.arrays import from_arrays
from setsweep.sweeps.execution import ray_executor
from setsweep.sweeps.execution.errors import ExecutorError, UnseenStorageError
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.execution.ray_executor import RayExecutor
from setsweep.sweeps.execution.slots.exchange import Exchange
from setsweep.trainables.config.run_result import RunResult

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(200)]

STEPS = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]  # the epochs and steps of a run with SHORT training
SHORT = {"epochs": 2, "batch_size": 512}


class Sabotage:
    """Takes the place of a job's model folder; the worker that unpacks it does the deed and finds no folder.

    Args:
        deed: what is called in the worker; not a function of a test module, which workers can't import, but one made
            inside another.
    """

    def __init__(self, deed: Callable[[], object]) -> None:
        self.deed = cloudpickle.dumps(deed)

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("loads(deed)()", {"loads": cloudpickle.loads, "deed": self.deed})


def explosion() -> Sabotage:
    """Every worker that takes the job dies."""
    return Sabotage(lambda: os._exit(1))


def death_at_checkpoint(number: int, checkpoint: Path) -> Sabotage:
    """The first worker that takes the job dies by signal 9 when it would write the checkpoint of that number.

    One is written after every step, by that worker and by the next, and noted in a diary beside it with the worker's
    process and the run's epoch and step.
    """
    diary, died = checkpoint.with_suffix(".diary"), checkpoint.with_suffix(".died")

    def deed() -> None:
        from setsweep.trainables import attempt
        from setsweep.trainables import checkpoint as module

        save = module.save_checkpoint

        def save_or_die(state: dict[str, Any], path: Path) -> None:
            written = diary.read_text().splitlines() if diary.exists() else []
            if path == checkpoint and len(written) == number and not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            save(state, path)
            if path == checkpoint:  # and not that of another job, which the same worker takes later
                diary.write_text("\n".join([*written, f"{os.getpid()} {state['epoch']} {state['step']}"]))

        module.save_checkpoint = save_or_die
        attempt.train_seeds = functools.partial(attempt.train_seeds, checkpoint_seconds=0.0)  # type: ignore[assignment]

    return Sabotage(deed)


def memory_for_one(folder: Path) -> Sabotage:
    """Of the two workers that train at once, each with this deed, the one with the higher number has no memory left."""

    def deed() -> None:
        import time

        import torch

        from setsweep.trainables import attempt

        train_seeds = attempt.train_seeds

        def train_or_fail(*arguments: Any, **options: Any) -> Any:
            (folder / f"{os.getpid()}.inside").touch()
            deadline = time.monotonic() + 60
            while len(list(folder.glob("*.inside"))) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            others = [int(path.stem) for path in folder.glob("*.inside")]
            if os.getpid() == max(others):
                raise torch.OutOfMemoryError("there is no room beside the other")
            return train_seeds(*arguments, **options)

        attempt.train_seeds = train_or_fail

    return Sabotage(deed)


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
        assert on_ray[job.key].status == "done"
        assert same(on_ray[job.key]) == same(in_process[job.key])


def test_shared_data_are_in_the_object_store_once_and_mapped_by_workers(trained: Any) -> None:
    executor, _, _ = trained
    [(reference, _)] = executor._data.values()
    assert ray.get(_mapped.remote([reference]))


def test_a_run_whose_worker_is_killed_goes_on_from_its_checkpoint_and_ends_with_the_same_result(
    make_job: Any, train: Any, same: Any, tmp_path: Path
) -> None:
    """One run is killed before its first checkpoint, one in its second epoch after four, one is left alone."""
    places = {number: tmp_path / f"{number}.pt" for number in (0, 4)}
    jobs = [
        make_job(number, training=SHORT, checkpoint=place, keep_model=death_at_checkpoint(number, place))
        for number, place in places.items()
    ]
    jobs.append(make_job(2, training=SHORT))
    on_ray = train(RayExecutor(), *jobs)
    in_process = train(LocalExecutor(), *(Job(configs=job.configs) for job in jobs))
    assert [on_ray[job.key].attempts for job in jobs] == [2, 2, 1]
    assert [same(on_ray[job.key]) for job in jobs] == [same(in_process[job.key]) for job in jobs]
    for number, place in places.items():
        workers, steps = _read_diary(place.with_suffix(".diary"))
        assert steps == STEPS, "each step once: the second worker goes on where the first was killed"
        assert [workers.index(worker) for worker in workers] == [0] * number + [number] * (len(STEPS) - number)


def test_sigterm_makes_a_slot_write_its_checkpoint_and_give_back_its_job(
    make_job: Any, train: Any, same: Any, tmp_path: Path
) -> None:
    pids, checkpoint = tmp_path / "pids", tmp_path / "run.pt"
    found: list[bool] = []

    def deed() -> None:
        with pids.open("a") as file:
            file.write(f"{os.getpid()} {checkpoint.exists()}\n")

    def terminate() -> None:
        if pids.exists() and not found and len(started := pids.read_text().split()) == 2:
            time.sleep(0.5)  # within the training
            os.kill(int(started[0]), signal.SIGTERM)
            found.append(True)

    job = make_job(0, training={"epochs": 200, "batch_size": 64}, checkpoint=checkpoint, keep_model=Sabotage(deed))
    [result] = train(RayExecutor(most=1), job, meanwhile=terminate).values()
    first, second = (line.split() for line in pids.read_text().splitlines())
    assert (first[1], second[1], first[0] == second[0]) == ("False", "True", False)
    assert (result.status, result.attempts) == ("done", 1)
    [in_process] = train(LocalExecutor(), Job(configs=job.configs)).values()
    assert same(result) == same(in_process)


def test_a_job_that_kills_its_worker_every_time_fails_and_the_others_go_on(make_job: Any, train: Any) -> None:
    deadly = make_job(0, keep_model=explosion())
    results = train(RayExecutor(most=2), deadly, *(make_job(seed) for seed in range(1, 5)))
    assert [result.key for result in results.values() if result.status != "done"] == [deadly.key]
    failed = results[deadly.key]
    assert (failed.status, failed.attempts, failed.reason) == ("failed", 3, "the worker died in each of 3 attempts")


def test_a_slot_without_memory_leaves_its_job_to_the_others(make_job: Any, train: Any, tmp_path: Path) -> None:
    executor = RayExecutor()
    assert executor.slots == 2
    slots: list[int] = []
    jobs = [make_job(seed, keep_model=memory_for_one(tmp_path)) for seed in range(3)]
    results = train(executor, *jobs, meanwhile=lambda: slots.append(executor.slots))
    assert [(result.status, result.attempts) for result in results.values()] == [("done", 1)] * 3
    assert slots[-1] == 1
    assert len(list(tmp_path.glob("*.inside"))) == 2


def test_a_slot_without_a_gpu_sees_none(make_job: Any, train: Any, tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def deed() -> None:
        seen.write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "all"))

    train(RayExecutor(most=1), make_job(0, keep_model=Sabotage(deed)))
    assert seen.read_text() == ""


def test_data_that_cannot_be_read_fail_the_run_with_their_reason(make_job: Any, train: Any, tmp_path: Path) -> None:
    job = make_job(0, data={"name": "cifar100"}, model={"name": "small_cnn"})
    job = Job(configs=job.configs, root=str(tmp_path))
    [result] = train(RayExecutor(most=1), job).values()
    assert result.status == "failed"
    assert "DataError" in str(result.reason)


def test_slots_that_have_all_gone_home_end_the_sweep(make_job: Any, train: Any) -> None:
    executor = RayExecutor(most=1)
    executor._slots.closed = True
    executor._mailbox.close()
    with pytest.raises(ExecutorError, match="slots must stay to the end, all went with 1 results missing"):
        train(executor, make_job(0))


def test_a_storage_that_a_node_does_not_see_ends_the_sweep_before_any_run(
    make_job: Any, train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a second machine: the file that is looked for is gone before a slot looks."""
    executor = RayExecutor(most=1, storage=tmp_path)
    [seen] = tmp_path.iterdir()
    seen.unlink()
    with pytest.raises(
        UnseenStorageError, match=f"^--storage must be seen by all nodes of the cluster, got .*{os.uname()[1]}"
    ):
        train(executor, make_job(0))


def test_modules_of_the_users_own_travel_with_the_slots(make_job: Any, train: Any, tmp_path: Path) -> None:
    """A module that no worker could find by itself, in a package."""
    told = tmp_path / "told"
    files = {"my_nets/__init__.py": b"", "my_nets/parts.py": b"def text():\n    return 'found'\n"}

    def deed() -> None:
        from my_nets.parts import text

        told.write_text(text())

    executor = RayExecutor(most=1, files=files, storage=tmp_path)
    [result] = train(executor, make_job(0, keep_model=Sabotage(deed))).values()
    assert (result.status, told.read_text()) == ("done", "found")
    assert [path.name for path in tmp_path.iterdir()] == ["told"]


@pytest.mark.parametrize("seconds", [0, 5])  # before and after a slot takes the job
def test_no_thread_of_tune_outlives_an_executor_closed_in_the_middle(make_job: Any, seconds: float) -> None:
    # It would use Ray after its end, and Ray would end the process.
    executor = RayExecutor(most=1)
    executor.submit(make_job(0, training={"epochs": 20000, "evaluate_every": 20000, "batch_size": 64}))
    assert executor.wait(seconds) == []
    executor.close()
    assert "ray-tune" not in {thread.name for thread in threading.enumerate()}


def test_slots_that_cannot_start_end_the_sweep_with_the_reason(
    make_job: Any, train: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(Exchange):
        def __init__(self, receive: Any) -> None:
            super().__init__(receive)
            self.name = "nobody"

    monkeypatch.setattr(ray_executor, "Exchange", Elsewhere)
    with pytest.raises(ExecutorError, match=r"slots must stay alive.*(?s:.*)ValueError: .*nobody"):
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


def _read_diary(path: Path) -> tuple[list[int], list[tuple[int, int]]]:
    """Of every checkpoint that was written: the process, and the finished epochs and steps."""
    lines = [[int(word) for word in line.split()] for line in path.read_text().splitlines()]
    return [worker for worker, _, _ in lines], [(epoch, step) for _, epoch, step in lines]
