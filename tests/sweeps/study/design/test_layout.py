"""The configurations of a sensitivity study: full grids of one and two hyperparameters, Sobol points of more."""

from __future__ import annotations

from collections import Counter

import pytest

from setsweep.sweeps.study.design.layout import axes_of, design
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.varied import Axis, Sensitivity

ARM = Arm(name="mine", loss="avgk")
ALPHA = Axis(path="mine.alpha", values=(0.1, 1.0, 10.0), log=True)
SIZE = Axis(path="training.batch_size", values=(32, 64))
RATE = Axis(path="training.optimizer.lr", values=tuple(0.01 * 2**step for step in range(8)), log=True)
OTHERS = Axis(path="other.alpha", values=(1.0, 2.0))


def _study(*axes: Axis, points: int = 64) -> Sensitivity:
    return Sensitivity(axes=axes, seeds=(0, 1), points=points)


def test_an_arm_has_the_axes_that_concern_it_under_the_paths_of_its_runs() -> None:
    assert axes_of(_study(ALPHA, SIZE, OTHERS), ARM) == {"loss.alpha": ALPHA, "training.batch_size": SIZE}


def test_an_arm_without_an_axis_has_no_configurations() -> None:
    assert design(_study(OTHERS), ARM) == []


def test_one_axis_is_its_values_in_order() -> None:
    assert design(_study(ALPHA), ARM) == [{"loss.alpha": value} for value in (0.1, 1.0, 10.0)]


def test_two_axes_are_a_full_grid_whose_last_varies_fastest() -> None:
    found = [(each["loss.alpha"], each["training.batch_size"]) for each in design(_study(ALPHA, SIZE), ARM)]
    assert found == [(0.1, 32), (0.1, 64), (1.0, 32), (1.0, 64), (10.0, 32), (10.0, 64)]


def test_two_axes_are_a_full_grid_however_few_the_points() -> None:
    assert len(design(_study(ALPHA, SIZE, points=2), ARM)) == 6


def test_three_axes_are_so_many_distinct_points_of_the_full_grid() -> None:
    found = design(_study(ALPHA, SIZE, RATE, points=24), ARM)
    assert len({tuple(each.items()) for each in found}) == len(found) == 24
    assert all(each["loss.alpha"] in ALPHA.values and each["training.batch_size"] in SIZE.values for each in found)


def test_a_grid_of_three_axes_that_is_small_enough_is_whole() -> None:
    assert len(design(_study(ALPHA, SIZE, RATE, points=48), ARM)) == 3 * 2 * 8


def test_the_points_are_the_same_each_time_and_more_of_them_keep_those_there_are() -> None:
    few, many = (design(_study(ALPHA, SIZE, RATE, points=points), ARM) for points in (16, 32))
    assert many[:16] == few


@pytest.mark.parametrize("points", [24, 32])
def test_points_are_spread_evenly_over_each_axis(points: int) -> None:
    """Of eight values each has its eighth, to two: a Sobol sequence less the cells that it falls into twice."""
    counts = Counter(each["training.optimizer.lr"] for each in design(_study(ALPHA, SIZE, RATE, points=points), ARM))
    assert all(abs(count - points / 8) <= 2 for count in counts.values())
    assert len(counts) == 8
