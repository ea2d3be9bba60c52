"""Several objectives: the front, and the few of it that are confirmed."""

from __future__ import annotations

import random

import pytest

from setsweep.sweeps.planning.front import front, members, volume


def test_the_front_is_who_is_beaten_by_none_in_all() -> None:
    values = {0: (0.5, 0.5), 1: (0.6, 0.4), 2: (0.5, 0.4), 3: (0.1, 0.9), 4: (0.5, 0.5)}
    assert front(values) == [0, 1, 3], "2 is beaten by 0 and 1, 4 equals 0"


def test_the_best_of_one_objective_is_its_front() -> None:
    assert front({0: (0.1,), 1: (0.7,), 2: (0.7,)}) == [1]


def test_who_adds_least_volume_leaves_first() -> None:
    """Scaled to 0.1..1.1: the middle one next to a corner adds the least."""
    values = {0: (0.0, 1.0), 1: (0.5, 0.5), 2: (0.95, 0.02), 3: (1.0, 0.0)}
    assert members(values, 4) == [0, 1, 2, 3]
    assert 1 in members(values, 3)
    assert len(members(values, 3)) == 3
    assert members(values, 1) == [1]
    assert members(values, 2) == members(dict(reversed(values.items())), 2)
    assert members(values, 1, kept=3) == [3], "the best by one objective stays where it is to"


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_volume_is_the_share_of_random_points_that_are_below_a_point(dimensions: int) -> None:
    """20,000 draws: a standard error of at most 0.0036; five of them are exceeded once in 1.7 million."""
    draw = random.Random(dimensions)
    points = [tuple(draw.random() for _ in range(dimensions)) for _ in range(6)]
    below = 0
    for _ in range(20_000):
        at = [draw.random() for _ in range(dimensions)]
        below += any(all(a <= b for a, b in zip(at, point, strict=True)) for point in points)
    assert volume(points) == pytest.approx(below / 20_000, abs=0.018)
