"""The lowest point in a box: found, held by the box, and found soon where the curvature is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.shares.descent import descend

WIDE = np.full(2, 10.0)


def rosenbrock(at: Floats) -> tuple[float, Floats]:
    return float(rosen(at)), rosen_der(at)


class Bowl:
    """x'Hx / 2 about a centre; counts how often it is asked."""

    curvature = np.array([[3.0, 1.0], [1.0, 2.0]])
    centre = np.array([0.5, -0.3])
    asked = 0

    def __call__(self, at: Floats) -> tuple[float, Floats]:
        self.asked += 1
        slope = self.curvature @ (at - self.centre)
        return float((at - self.centre) @ slope / 2), slope


def test_a_curved_valley_is_followed_to_its_lowest_point() -> None:
    """Rosenbrock's, lowest at (1, 1); it stops where a step promises to gain 1e-6."""
    found = descend(rosenbrock, np.array([-1.2, 1.0]), np.eye(2), -WIDE, WIDE)

    assert found.at == pytest.approx([1, 1], abs=0.01)
    assert found.value == pytest.approx(0, abs=1e-5)


def test_a_box_holds_it_as_it_holds_scipys() -> None:
    high = np.array([0.5, 10.0])
    found = descend(rosenbrock, np.array([-1.2, 1.0]), np.eye(2), -WIDE, high)
    theirs = minimize(rosen, [-1.2, 1.0], jac=rosen_der, bounds=[(-10, 0.5), (-10, 10)], options={"ftol": 1e-12})

    assert found.at == pytest.approx(theirs.x, abs=0.01)
    assert found.at[0] == 0.5


def test_where_the_curvature_is_known_one_step_is_enough() -> None:
    bowl = Bowl()
    found = descend(bowl, bowl.centre + 0.7, bowl.curvature, -WIDE, WIDE)

    assert found.at == pytest.approx(bowl.centre)
    assert bowl.asked == 2  # at the start, and where the step has led


def test_the_last_step_is_taken_unseen() -> None:
    bowl = Bowl()
    found = descend(bowl, bowl.centre + 1e-4, bowl.curvature, -WIDE, WIDE)

    assert found.at == pytest.approx(bowl.centre, abs=1e-12)
    assert found.value == pytest.approx(0, abs=1e-15)
    assert bowl.asked == 1


def test_the_curvature_is_learnt() -> None:
    bowl = Bowl()
    found = descend(bowl, np.array([5.0, 5.0]), np.eye(2), -WIDE, WIDE)

    assert found.curvature == pytest.approx(bowl.curvature, rel=0.1)
    assert found.at == pytest.approx(bowl.centre, abs=1e-3)


def test_a_start_outside_of_the_box_is_moved_to_its_side() -> None:
    bowl = Bowl()

    assert descend(bowl, WIDE, bowl.curvature, np.zeros(2), np.ones(2)).at[1] == 0
