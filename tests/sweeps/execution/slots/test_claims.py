"""Drivers on one cluster see what the others want, as long as those are there."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from setsweep.sweeps.execution.capacity import Machine
from setsweep.sweeps.execution.slots.claims import EXPIRE_SECONDS, Claim, Claims, FairPart, Standing
from setsweep.sweeps.execution.slots.fair_parts import Want

pytestmark = pytest.mark.usefixtures("cluster")

FOUR = [Machine(4)]


class Clock:
    """Shows what it is told to.

    Attributes:
        now: in seconds.
    """

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _claim(slots: int, *, holds: int = 0, standing: Standing | None = None) -> Claim:
    beside = standing or Standing()
    return Claim(want=Want(cpus=1, slots=slots, share=beside.share, priority=beside.priority), holds=holds)


@pytest.fixture
def drivers() -> Iterator[list[FairPart]]:
    """Three, in the order in which they came; they leave at the end."""
    made = [FairPart() for _ in range(3)]
    yield made
    for driver in made:
        driver.leave()


def test_claims_stand_in_the_order_of_arrival_whoever_looks() -> None:
    first, second = Claims(), Claims()
    assert first.renew(_claim(3)) == ([_claim(3)], 0)
    assert second.renew(_claim(5, holds=2)) == ([_claim(3), _claim(5, holds=2)], 1)
    assert first.renew(_claim(4)) == ([_claim(4), _claim(5, holds=2)], 0)
    first.withdraw()
    assert second.renew(_claim(5)) == ([_claim(5)], 0)
    second.withdraw()


def test_a_claim_that_is_not_renewed_is_forgotten_by_ones_own_clock_alone() -> None:
    clock = Clock()
    gone, here = Claims(), Claims(clock)
    gone.renew(_claim(3))
    assert len(here.renew(_claim(5))[0]) == 2
    clock.now = EXPIRE_SECONDS - 1
    gone.renew(_claim(3))
    assert len(here.renew(_claim(5))[0]) == 2
    clock.now = 2 * EXPIRE_SECONDS - 2
    assert len(here.renew(_claim(5))[0]) == 2
    clock.now = 2 * EXPIRE_SECONDS
    assert here.renew(_claim(5)) == ([_claim(5)], 0)
    later = Claims()
    assert later.renew(_claim(1))[0] == [_claim(5), _claim(1)]  # nor does one who comes later see it
    for claims in (here, later):
        claims.withdraw()


def test_a_driver_by_itself_is_not_bound_and_two_have_their_shares(drivers: list[FairPart]) -> None:
    first, second, _ = drivers
    first.look(_claim(9), FOUR, growth=0)
    assert (first.held, first.asked) == (math.inf, math.inf)
    second.look(_claim(9, standing=Standing(share=3)), FOUR, growth=0)
    first.look(_claim(9, holds=4), FOUR, growth=0)
    assert (first.held, first.asked, second.held, second.asked) == (1, 1, 3, 3)
    second.leave()
    first.look(_claim(9, holds=1), FOUR, growth=0)
    assert first.held == math.inf


def test_a_cluster_is_asked_to_grow_when_all_have_their_part_of_what_is_there(drivers: list[FairPart]) -> None:
    first, second, third = drivers
    second.look(_claim(9, holds=0), FOUR, growth=6)
    first.look(_claim(9, holds=4), FOUR, growth=6)
    assert (first.held, first.asked) == (2, 2)  # the second waits for what is there
    second.look(_claim(9, holds=2), FOUR, growth=6)
    first.look(_claim(9, holds=2), FOUR, growth=6)
    assert (first.held, first.asked) == (2, 8)
    third.look(_claim(1), [], growth=1)
    assert (third.held, third.asked) == (0, 1)  # with no node at all it is asked too
