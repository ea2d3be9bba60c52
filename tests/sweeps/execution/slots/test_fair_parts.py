"""Parts of a cluster: none can have more without another, who has no more by its share, having less."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from setsweep.sweeps.execution.capacity import Machine, room
from setsweep.sweeps.execution.slots.fair_parts import Want, fair_parts

SIZES = [(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (1.0, 0.5), (1.0, 1.0), (4.0, 2.0), (0.5, 0.25)]


def _draw(seed: int, *, sizes: Sequence[tuple[float, float]] = SIZES) -> tuple[list[Want], list[Machine]]:
    draw = random.Random(seed)
    machines = [Machine(draw.randint(0, 12), draw.randint(0, 3)) for _ in range(draw.randint(0, 5))]
    wants = [
        Want(
            cpus=size[0],
            gpus=size[1],
            slots=draw.choice([0, 1, draw.randint(2, 40)]),
            share=draw.choice([0.5, 1.0, 1.0, 2.0, 3.0]),
            priority=draw.choice([0, 0, 0, 1]),
        )
        for size in draw.choices(sizes, k=draw.randint(1, 5))
    ]
    return wants, machines


@pytest.mark.parametrize(
    ("slots", "shares", "expected"),
    [
        ((9, 9), (1, 1), [4, 4]),
        ((1, 9), (1, 1), [1, 7]),  # what one does not want another has
        ((9, 9), (3, 1), [6, 2]),
        ((9, 9, 9), (1, 1, 1), [3, 3, 2]),  # who came first has the odd one
        ((9, 9, 2), (1, 2, 1), [2, 4, 2]),
        ((2, 0), (1, 1), [2, 0]),
    ],
)
def test_slots_of_one_size_on_eight_cpus_go_by_shares(
    slots: Sequence[int], shares: Sequence[float], expected: list[int]
) -> None:
    wants = [Want(cpus=1, slots=each, share=share) for each, share in zip(slots, shares, strict=True)]
    assert fair_parts(wants, [Machine(5), Machine(3)]) == expected


def test_a_higher_priority_has_all_that_it_wants_first() -> None:
    wants = [Want(cpus=1, slots=9), Want(cpus=1, slots=5, priority=1), Want(cpus=1, slots=9)]
    assert fair_parts(wants, [Machine(8)]) == [2, 5, 1]


def test_studies_that_are_short_of_different_things_have_equal_parts_of_them() -> None:
    """The example of Ghodsi et al., section 4.1, with GPUs for memory: 9 CPUs and 18; (1, 4) and (3, 1) a task."""
    assert fair_parts([Want(cpus=1, gpus=4, slots=99), Want(cpus=3, gpus=1, slots=99)], [Machine(9, 18)]) == [3, 2]


def test_large_slots_find_room_beside_small_ones() -> None:
    wants = [Want(cpus=1, slots=9), Want(cpus=4, slots=9)]
    assert fair_parts(wants, [Machine(4), Machine(4)]) == [4, 1]


def test_one_study_alone_has_as_many_slots_as_fit() -> None:
    for seed in range(300):
        _, machines = _draw(seed)
        for cpus, gpus in SIZES:
            fit = sum(room(machine.cpus, machine.gpus, cpus=cpus, gpus=gpus) for machine in machines)
            assert fair_parts([Want(cpus=cpus, gpus=gpus, slots=1000)], machines) == [fit]


def test_none_has_more_than_it_wants_and_all_together_no_more_than_there_is() -> None:
    for seed in range(300):
        wants, machines = _draw(seed)
        parts = fair_parts(wants, machines)
        assert all(0 <= part <= want.slots for part, want in zip(parts, wants, strict=True))
        for what in ("cpus", "gpus"):
            taken = sum(part * getattr(want, what) for part, want in zip(parts, wants, strict=True))
            assert taken <= sum(getattr(machine, what) for machine in machines) + 1e-3


def test_with_slots_of_one_size_nothing_is_left_over_and_who_wants_more_is_no_slot_behind_by_its_share() -> None:
    for seed in range(300):
        wants, machines = _draw(seed, sizes=[(2.0, 0.0)])
        parts = fair_parts(wants, machines)
        room_for = sum(int(machine.cpus // 2) for machine in machines)
        assert sum(parts) == min(room_for, sum(want.slots for want in wants))
        for part, want in zip(parts, wants, strict=True):
            if part == want.slots:
                continue
            for other_part, other in zip(parts, wants, strict=True):
                if other.priority < want.priority:
                    assert other_part == 0
                elif other.priority == want.priority and other_part:
                    assert (other_part - 1) / other.share <= part / want.share + 1e-9


def test_what_others_of_lower_priority_want_changes_nothing() -> None:
    for seed in range(300):
        wants, machines = _draw(seed)
        first = [want for want in wants if want.priority == 1]
        parts = fair_parts(wants, machines)
        assert [part for part, want in zip(parts, wants, strict=True) if want.priority == 1] == fair_parts(
            first, machines
        )


def test_a_large_cluster_is_shared_out_in_a_moment() -> None:
    wants = [Want(cpus=1, slots=1000, share=1 + each) for each in range(8)]
    parts = fair_parts(wants, [Machine(16)] * 64)
    assert sum(parts) == 1024
    assert all(math.isclose(part, 1024 * (1 + each) / 36, abs_tol=1.01) for each, part in enumerate(parts))


def test_many_nodes_of_few_kinds_are_shared_out_slot_by_slot() -> None:
    """Node by node, each of 2,000 slots would look at 500 nodes."""
    wants = [Want(cpus=1, slots=1500), Want(cpus=2, gpus=0.5, slots=1500)]
    parts = fair_parts(wants, [Machine(4), Machine(8, 1)] * 250)
    assert parts == [1500, 500]
