"""The mailbox: every job is trained, whatever becomes of the slots that take it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import GroupSize, Job
from setsweep.sweeps.execution.mailbox import Mailbox, Parcel, Worker
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.run_result import RunResult


def _parcel(seed: int = 0) -> Parcel:
    config = RunConfig(
        data={"name": "digits"},
        model={"name": "linear"},
        loss={"name": "cross_entropy"},
        training=Training(),
        k=(1,),
        seed=seed,
    )
    return Parcel(Job(configs=(config,), checkpoint=Path("checkpoint.pt")))


def _done(parcel: Any) -> RunResult:
    return RunResult(key=parcel.job.key, status="done")


def _job(answer: object) -> Job:
    assert isinstance(answer, Parcel)
    return answer.job


def _no_memory(parcel: Any) -> RunResult:
    return RunResult(key=parcel.job.key, status="failed", cause="memory")


def test_a_slot_gets_jobs_in_order_and_brings_results() -> None:
    mailbox = Mailbox()
    for seed in (0, 1):
        mailbox.post(_parcel(seed))
    first = mailbox.take(0, Worker("a"), [], 0)
    assert first == _parcel(0)
    assert mailbox.take(0, Worker("a"), [_done(first)], 0) == _parcel(1)
    assert mailbox.collect(0) == [_done(first)]
    assert mailbox.collect(0) == []


def test_an_idle_slot_is_told_to_ask_again_and_to_go_home_when_the_mailbox_is_closed() -> None:
    mailbox = Mailbox()
    assert mailbox.take(0, Worker("a"), [], 0) == Wait()
    mailbox.close()
    assert mailbox.take(0, Worker("a"), [], 10) == Done()


def test_a_lost_job_goes_to_the_next_slot_before_all_others() -> None:
    mailbox = Mailbox()
    for seed in (0, 1):
        mailbox.post(_parcel(seed))
    mailbox.take(0, Worker("a"), [], 0)
    mailbox.lost(0)
    job = _job(mailbox.take(1, Worker("b"), [], 0))
    assert (job.configs[0].seed, job.attempts, job.checkpoint) == (0, 2, Path("checkpoint.pt"))


def test_a_slot_that_asks_without_a_result_has_lost_its_job() -> None:
    mailbox = Mailbox()
    mailbox.post(_parcel())
    mailbox.take(0, Worker("a"), [], 0)
    job = _job(mailbox.take(0, Worker("b"), [], 0))
    assert job.attempts == 2


def test_a_job_that_is_lost_every_time_fails_with_its_reason() -> None:
    mailbox = Mailbox(max_attempts=3)
    mailbox.post(_parcel())
    for attempt in range(3):
        assert mailbox.take(0, Worker(f"worker {attempt}"), [], 0) != Wait()
        mailbox.lost(0)
    [result] = mailbox.collect(0)
    assert (result.status, result.attempts, result.reason) == ("failed", 3, "the worker died in each of 3 attempts")
    assert mailbox.take(0, Worker("after"), [], 0) == Wait()


def test_all_seeds_of_a_lost_job_fail_and_a_lost_probe_recommends_nothing() -> None:
    mailbox = Mailbox(max_attempts=1)
    configs = tuple(_parcel(seed).job.configs[0] for seed in (0, 1))
    for job in (Job(configs=configs), Job(configs=configs, probe=True)):
        mailbox.post(Parcel(job))
        mailbox.take(0, Worker("a"), [], 0)
        mailbox.lost(0)
        outcomes = mailbox.collect(0)
        assert tuple(each.key for each in outcomes) == job.outcome_keys
        if job.probe:
            assert outcomes == [GroupSize(key=job.key, seeds=1)]
        else:
            assert [each.status for each in outcomes if isinstance(each, RunResult)] == ["failed", "failed"]


def test_a_slot_without_memory_hands_its_job_on_and_rests_unless_it_is_the_last() -> None:
    mailbox, a, b = Mailbox(), Worker("a"), Worker("b")
    mailbox.post(_parcel())
    mailbox.take(0, a, [], 0)
    mailbox.take(1, b, [], 0)
    assert mailbox.take(0, a, [_no_memory(_parcel())], 0) == Wait()
    assert mailbox.resting == 1
    assert mailbox.take(1, b, [], 0) == _parcel()  # the same attempt: the job is not to blame
    mailbox.post(_parcel(1))
    assert mailbox.take(0, a, [], 0) == Wait()
    assert mailbox.collect(0) == []


def test_a_job_that_is_too_large_by_itself_fails_and_wakes_the_slots_that_rest_on_its_account() -> None:
    mailbox, a, b = Mailbox(), Worker("a"), Worker("b")
    mailbox.post(_parcel())
    mailbox.take(0, a, [], 0)
    mailbox.take(1, b, [], 0)
    mailbox.take(0, a, [_no_memory(_parcel())], 0)
    parcel = mailbox.take(1, b, [], 0)
    assert parcel == _parcel()
    mailbox.post(_parcel(1))
    assert mailbox.take(1, b, [_no_memory(parcel)], 0) == _parcel(1)
    assert mailbox.collect(0) == [_no_memory(parcel)]
    assert mailbox.resting == 0
    mailbox.post(_parcel(2))
    assert mailbox.take(0, a, [], 0) == _parcel(2)


def test_of_two_jobs_that_run_out_of_memory_together_both_are_tried_again() -> None:
    """The second has had company as well, although it is alone by the time that it says so."""
    mailbox, a, b = Mailbox(), Worker("a"), Worker("b")
    for seed in (0, 1):
        mailbox.post(_parcel(seed))
    mailbox.take(0, a, [], 0)
    mailbox.take(1, b, [], 0)
    assert mailbox.take(0, a, [_no_memory(_parcel(0))], 0) == Wait()
    assert mailbox.take(1, b, [_no_memory(_parcel(1))], 0) == _parcel(1)
    assert mailbox.resting == 1
    assert mailbox.collect(0) == []
    assert mailbox.take(1, b, [_no_memory(_parcel(1))], 0) == _parcel(0)
    assert mailbox.collect(0) == [_no_memory(_parcel(1))]


def test_slots_of_other_gpus_share_no_memory() -> None:
    mailbox, a, b = Mailbox(), Worker("a", "node/0"), Worker("b", "node/1")
    mailbox.post(_parcel())
    mailbox.take(0, a, [], 0)
    mailbox.take(1, b, [], 0)
    mailbox.take(0, a, [_no_memory(_parcel())], 0)
    assert mailbox.collect(0) == [_no_memory(_parcel())]
    assert mailbox.resting == 0


def test_the_next_worker_of_a_slot_that_rested_is_awake() -> None:
    mailbox, a, b = Mailbox(), Worker("a"), Worker("b")
    mailbox.post(_parcel())
    mailbox.take(0, a, [], 0)
    mailbox.take(1, b, [], 0)
    mailbox.take(0, a, [_no_memory(_parcel())], 0)
    mailbox.lost(0)
    assert mailbox.resting == 0
    assert mailbox.take(0, Worker("c"), [], 0) == _parcel()


def test_a_job_that_comes_back_when_the_mailbox_is_closed_is_not_handed_out() -> None:
    mailbox = Mailbox()
    mailbox.post(_parcel())
    mailbox.take(0, Worker("a"), [], 0)
    mailbox.close()
    mailbox.lost(0)
    assert mailbox.take(1, Worker("b"), [], 0) == Done()


def test_a_worker_that_died_while_it_waited_is_given_nothing() -> None:
    """Its call is still in the driver when the slot's next worker calls; a job handed to it would be lost."""
    mailbox = Mailbox()
    got: dict[str, Any] = {}

    def call(worker: str) -> threading.Thread:
        thread = threading.Thread(target=lambda: got.update({worker: mailbox.take(0, Worker(worker), [], 5)}))
        thread.start()
        return thread

    old = call("old")
    while not mailbox._worker:
        time.sleep(0.01)
    new = call("new")
    old.join(timeout=2)
    assert got == {"old": Done()}
    mailbox.post(_parcel())
    new.join(timeout=2)
    assert got["new"] == _parcel()
