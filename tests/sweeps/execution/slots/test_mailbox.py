"""The mailbox: every job is trained, whatever becomes of the slots that take it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.answers import Done
from setsweep.sweeps.execution.executor import GroupSize, Job
from setsweep.sweeps.execution.slots.mailbox import GIVE_SECONDS, Load, Mailbox
from setsweep.sweeps.execution.slots.messages import Parcel, Place
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.run_result import RunResult


class Desk:
    """A mailbox with slots that keep what they are answered.

    Attributes:
        now: what its clock shows, in seconds.
    """

    def __init__(self, max_attempts: int = 3) -> None:
        self.now = 0.0
        self.mailbox = Mailbox(max_attempts, clock=lambda: self.now)
        self._got: dict[int, Any] = {}

    def post(self, *seeds: int) -> None:
        for seed in seeds:
            self.mailbox.post(_parcel(seed))

    def take(self, slot: int, *outcomes: Any, place: Place | None = None) -> Any:
        """Ask for a job; what is answered at once, else None, see `got`."""
        self._got.pop(slot, None)
        self.mailbox.take(slot, place or Place(), outcomes, lambda answer: self._got.update({slot: answer}))
        return self.got(slot)

    def got(self, slot: int) -> Any:
        """What a slot was answered since it asked last."""
        return self._got.get(slot)


@pytest.fixture
def desk() -> Desk:
    """An open one."""
    return Desk()


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


def _no_memory(parcel: Any) -> RunResult:
    return RunResult(key=parcel.job.key, status="failed", cause="memory")


def test_a_slot_gets_jobs_in_order_and_brings_results(desk: Desk) -> None:
    desk.post(0, 1)
    first = desk.take(0)
    assert first == _parcel(0)
    assert desk.take(0, _done(first)) == _parcel(1)
    assert desk.mailbox.collect(0) == [_done(first)]
    assert desk.mailbox.collect(0) == []


def test_a_slot_that_waits_is_answered_when_a_job_comes_and_who_has_waited_longest_first(desk: Desk) -> None:
    assert (desk.take(1), desk.take(0)) == (None, None)
    desk.post(0)
    assert (desk.got(1), desk.got(0)) == (_parcel(0), None)
    desk.post(1)
    assert desk.got(0) == _parcel(1)


def test_a_slot_that_waits_goes_home_when_the_mailbox_is_closed_and_one_that_comes_later_as_well(desk: Desk) -> None:
    desk.take(0)
    desk.mailbox.close()
    assert (desk.got(0), desk.take(1)) == (Done(), Done())


@pytest.mark.parametrize(("blame", "attempts"), [(True, 2), (False, 1)])
def test_a_lost_job_goes_to_the_next_slot_before_all_others(desk: Desk, blame: bool, attempts: int) -> None:
    desk.post(0, 1)
    desk.take(0)
    desk.mailbox.lost(0, blame=blame)
    job = desk.take(1).job
    assert (job.configs[0].seed, job.attempts, job.checkpoint) == (0, attempts, Path("checkpoint.pt"))


def test_a_job_that_is_lost_with_its_node_is_never_given_up() -> None:
    desk = Desk(max_attempts=1)
    desk.post(0)
    for slot in range(5):
        assert desk.take(slot) == _parcel(0)
        desk.mailbox.lost(slot, blame=False)
    assert desk.mailbox.collect(0) == []


def test_a_slot_that_asks_without_a_result_has_lost_its_job(desk: Desk) -> None:
    desk.post(0)
    desk.take(0)
    assert desk.take(0).job.attempts == 2


def test_a_job_that_is_lost_every_time_fails_with_its_reason(desk: Desk) -> None:
    desk.post(0)
    for _ in range(3):
        assert desk.take(0) is not None
        desk.mailbox.lost(0)
    [result] = desk.mailbox.collect(0)
    assert isinstance(result, RunResult)
    assert (result.status, result.attempts, result.reason) == ("failed", 3, "the worker died in each of 3 attempts")
    assert desk.take(0) is None


def test_all_seeds_of_a_lost_job_fail_and_a_lost_probe_recommends_nothing() -> None:
    desk = Desk(max_attempts=1)
    configs = tuple(_parcel(seed).job.configs[0] for seed in (0, 1))
    for job in (Job(configs=configs), Job(configs=configs, probe=True)):
        desk.mailbox.post(Parcel(job))
        desk.take(0)
        desk.mailbox.lost(0)
        outcomes = desk.mailbox.collect(0)
        assert tuple(each.key for each in outcomes) == job.outcome_keys
        if job.probe:
            assert outcomes == [GroupSize(key=job.key, seeds=1)]
        else:
            assert [each.status for each in outcomes if isinstance(each, RunResult)] == ["failed", "failed"]


def test_a_slot_that_is_recalled_gives_back_its_job_and_gets_no_more(desk: Desk) -> None:
    told: list[int] = []
    desk.post(0, 1)
    for slot, node in enumerate(("a", "b")):
        desk.take(slot, place=Place(node))
        desk.mailbox.watch(slot, lambda slot=slot: told.append(slot))  # type: ignore[misc]
    assert desk.mailbox.on_nodes({"b", "c"}) == [1]
    desk.mailbox.recall([1, 7])
    desk.mailbox.recall([1])
    assert told == [1]
    desk.mailbox.give_back(1)
    assert desk.take(0, _done(_parcel(0))) == _parcel(1)  # the same attempt
    desk.mailbox.recall([0])
    assert desk.take(0, _done(_parcel(1))) == Done()  # one that was done before it heard of it
    assert len(desk.mailbox.collect(0)) == 2


def test_slots_that_train_are_recalled_when_the_mailbox_is_closed_and_so_is_one_that_asks_too_late(desk: Desk) -> None:
    told: list[int] = []
    desk.post(0)
    desk.take(0)
    desk.mailbox.watch(0, lambda: told.append(0))
    desk.mailbox.close()
    desk.mailbox.watch(1, lambda: told.append(1))
    assert told == [0, 1]


def test_slots_without_work_go_home_after_a_while_but_not_before_there_was_any(desk: Desk) -> None:
    desk.take(0)
    desk.now = 60
    desk.mailbox.send_idle_home(5)
    assert desk.got(0) is None
    desk.post(0)
    desk.take(1)
    desk.now = 64
    desk.mailbox.send_idle_home(5)
    assert desk.got(1) is None
    desk.now = 65
    desk.mailbox.send_idle_home(5)
    assert desk.got(1) == Done()
    assert desk.mailbox.load == Load(training=1, waiting=0, resting=0, begun=True)


def test_a_slot_without_memory_hands_its_job_on_and_rests_unless_it_is_the_last(desk: Desk) -> None:
    desk.post(0)
    desk.take(0)
    desk.take(1)
    assert desk.take(0, _no_memory(_parcel())) is None
    assert desk.mailbox.load.resting == 1
    assert desk.got(1) == _parcel()  # the same attempt: the job is not to blame
    desk.post(1)
    assert desk.got(0) is None
    assert desk.mailbox.collect(0) == []


def test_a_job_that_is_too_large_by_itself_fails_and_wakes_the_slots_that_rest_on_its_account(desk: Desk) -> None:
    desk.post(0)
    desk.take(0)
    desk.take(1)
    desk.take(0, _no_memory(_parcel()))
    parcel = desk.got(1)
    assert parcel == _parcel()
    desk.post(1, 2)
    assert desk.take(1, _no_memory(parcel)) == _parcel(2)
    assert desk.got(0) == _parcel(1)
    assert desk.mailbox.collect(0) == [_no_memory(parcel)]
    assert desk.mailbox.load.resting == 0


def test_of_two_jobs_that_run_out_of_memory_together_both_are_tried_again(desk: Desk) -> None:
    """The second has had company as well, although it is alone by the time that it says so."""
    desk.post(0, 1)
    desk.take(0)
    desk.take(1)
    assert desk.take(0, _no_memory(_parcel(0))) is None
    assert desk.take(1, _no_memory(_parcel(1))) == _parcel(1)
    assert desk.mailbox.load.resting == 1
    assert desk.mailbox.collect(0) == []
    assert desk.take(1, _no_memory(_parcel(1))) == _parcel(0)
    assert desk.mailbox.collect(0) == [_no_memory(_parcel(1))]


def test_slots_of_other_gpus_share_no_memory(desk: Desk) -> None:
    desk.post(0)
    desk.take(0, place=Place("node", "node/0"))
    desk.take(1, place=Place("node", "node/1"))
    desk.take(0, _no_memory(_parcel()), place=Place("node", "node/0"))
    assert desk.mailbox.collect(0) == [_no_memory(_parcel())]
    assert desk.mailbox.load.resting == 0


def test_a_slot_that_takes_the_number_of_one_that_rested_is_awake(desk: Desk) -> None:
    desk.post(0)
    desk.take(0)
    desk.take(1)
    desk.take(0, _no_memory(_parcel()))
    desk.mailbox.lost(0)
    assert desk.mailbox.load.resting == 0
    desk.post(1)
    assert desk.take(0) == _parcel(1)


def test_a_job_that_comes_back_when_the_mailbox_is_closed_is_not_handed_out(desk: Desk) -> None:
    desk.post(0)
    desk.take(0)
    desk.mailbox.close()
    desk.mailbox.lost(0)
    assert desk.take(1) == Done()


def test_of_too_many_slots_those_go_home_that_ask_first_and_the_others_stay(desk: Desk) -> None:
    desk.post(0, 1, 2, 3, 4)
    parcels = [desk.take(slot) for slot in range(4)]
    desk.mailbox.bound(2)
    assert [desk.take(slot, _done(parcels[slot])) for slot in (3, 1)] == [Done(), Done()]
    assert desk.take(0, _done(parcels[0])) == _parcel(4)
    assert len(desk.mailbox.collect(0)) == 3
    desk.mailbox.bound(3)
    desk.post(5)
    assert desk.take(9) == _parcel(5)  # one of three
    desk.post(6)
    assert desk.take(8) == Done()


def test_slots_that_wait_go_home_at_once_when_they_are_too_many(desk: Desk) -> None:
    desk.take(0)
    desk.take(1)
    desk.mailbox.bound(1)
    assert (desk.got(0), desk.got(1)) == (Done(), None)


def test_slots_that_stay_too_many_give_back_what_they_train_on_nodes_with_few_of_them_first(desk: Desk) -> None:
    told: list[int] = []
    desk.post(0, 1, 2, 3)
    for slot, node in enumerate("aabb"):
        desk.take(slot, place=Place(node))
        desk.mailbox.watch(slot, lambda slot=slot: told.append(slot))  # type: ignore[misc]
    desk.post(4)
    desk.take(4, place=Place("c"))
    desk.mailbox.watch(4, lambda: told.append(4))
    desk.mailbox.bound(2)
    desk.now = GIVE_SECONDS - 1
    desk.mailbox.bound(2)
    assert told == []
    desk.now = GIVE_SECONDS
    desk.mailbox.bound(2)
    assert told == [4, 0, 1]  # so that nodes are free whole
    desk.mailbox.give_back(4)
    desk.now += GIVE_SECONDS
    desk.mailbox.bound(2)
    assert told == [4, 0, 1]
    assert [parcel.job.attempts for parcel in desk.mailbox._waiting] == [1]


def test_the_time_in_which_slots_are_too_many_begins_anew_when_they_were_not(desk: Desk) -> None:
    told: list[int] = []
    desk.post(0)
    desk.take(0)
    desk.mailbox.watch(0, lambda: told.append(0))
    for now, most in ((0, 0), (GIVE_SECONDS - 1, 1), (GIVE_SECONDS, 0), (2 * GIVE_SECONDS - 1, 0)):
        desk.now = now
        desk.mailbox.bound(most)
    assert told == []
    desk.now = 2 * GIVE_SECONDS
    desk.mailbox.bound(0)
    assert told == [0]
