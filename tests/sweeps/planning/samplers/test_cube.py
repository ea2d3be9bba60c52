"""The unit cube of a search space: even on the declared scale, and back again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from setsweep.sweeps.planning.samplers.cube import from_cube, sobol, to_cube
from setsweep.sweeps.study.space import Space

LINEAR = Space(kind="uniform", low=-1.0, high=3.0)
DECADES = Space(kind="log_uniform", low=0.01, high=100.0)
DRAWS = Space(kind="int", low=1, high=4)
DOUBLING = Space(kind="log_int", low=1, high=64)
SIZES = Space(kind="choice", choices=(32, 64, 128))


@pytest.mark.parametrize(
    ("space", "at", "value"),
    [
        (LINEAR, 0.25, 0.0),
        (DECADES, 0.5, 1.0),  # the geometric mean of 0.01 and 100
        (DECADES, 0.75, 10.0),
        (DRAWS, 0.0, 1),
        (DRAWS, 0.26, 2),  # four neighbourhoods of a quarter each
        (DRAWS, 1.0, 4),
        (DOUBLING, 0.5, round(math.sqrt(0.5 * 64.5))),
        (SIZES, 0.34, 64),
        (SIZES, 1.0, 128),
    ],
)
def test_a_coordinate_stands_for_a_value_on_the_declared_scale(space: Space, at: float, value: float) -> None:
    found = from_cube({"x": space}, [at])["x"]
    assert found == pytest.approx(value, rel=1e-12)
    assert type(found) is type(value)


@pytest.mark.parametrize("space", [DRAWS, DOUBLING, SIZES])
def test_every_value_of_a_finite_space_comes_back_from_its_own_coordinate(space: Space) -> None:
    for value in space.values():
        assert from_cube({"x": space}, to_cube({"x": space}, {"x": value})) == {"x": value}


@pytest.mark.parametrize("space", [LINEAR, DECADES])
def test_values_of_a_range_come_back_to_rounding(space: Space) -> None:
    for at in (0.0, 0.1, 0.5, 0.999, 1.0):
        assert to_cube({"x": space}, from_cube({"x": space}, [at])) == pytest.approx([at], abs=1e-12)


def test_no_coordinate_leaves_the_range_by_rounding() -> None:
    for space in (LINEAR, DECADES, DRAWS, DOUBLING):
        for at in np.linspace(0, 1, 1001).tolist():
            assert space.contains(from_cube({"x": space}, [at])["x"])


def test_whole_numbers_are_equally_likely() -> None:
    """Of 1,000 even coordinates 250 fall into the neighbourhood of each of four numbers."""
    found = [from_cube({"x": DRAWS}, [at])["x"] for at in ((np.arange(1000) + 0.5) / 1000).tolist()]
    assert [found.count(number) for number in (1, 2, 3, 4)] == [250] * 4


@pytest.mark.parametrize("count", [1, 5, 8])
def test_further_points_of_the_sequence_change_none_before_them(count: int) -> None:
    assert np.array_equal(sobol(3, count, seed=7), sobol(3, 64, seed=7)[:count])


def test_sixteen_points_fall_into_sixteen_different_sixteenths_of_each_coordinate() -> None:
    """What makes a Sobol sequence one, scrambled or not."""
    points = sobol(4, 16, seed=1)
    assert all(len(set(np.floor(16 * column).tolist())) == 16 for column in points.T)
