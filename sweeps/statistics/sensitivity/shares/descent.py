"""The lowest point of a smooth function in a box, from a start where its curvature is roughly known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats

_STEPS, _HALVINGS = 60, 20
_LONGEST = 1.0  # of a step along one coordinate
_LITTLE = 1e-6  # of the value: a step that gains no more is the last
_ENOUGH = 1e-4  # of what the slope promises, for a step to be taken (Armijo)


@dataclass(frozen=True, eq=False)
class Lowest:
    """Where a function is lowest.

    Args:
        at: the point, (coordinates,).
        value: of the function there.
        curvature: (coordinates, coordinates), positive definite: roughly the second derivatives.
    """

    at: Floats
    value: float
    curvature: Floats


def descend(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, curvature: Floats, low: Floats, high: Floats
) -> Lowest:
    """Quasi-Newton steps, projected on the box (Bertsekas 1982), with the curvature learnt by BFGS.

    That is as in Nocedal and Wright 2006, chapter 6. From a start nearby whose curvature is known three values of the
    function are enough: the last step, which is to gain little, is taken unseen.

    Args:
        function: gives value and slope.
        start: (coordinates,).
        curvature: there, positive definite.
        low, high: the ends of the box.
    """
    at = np.clip(start, low, high)
    value, slope = function(at)
    for _ in range(_STEPS):
        step = _step(at, slope, curvature, low, high)
        gain = -float(slope @ step) / 2
        if gain <= _LITTLE * max(1.0, abs(value)):
            return Lowest(np.clip(at + step, low, high), value - gain, curvature)
        for halving in range(_HALVINGS):
            there = np.clip(at + step / 2**halving, low, high)
            new, new_slope = function(there)
            if new <= value + _ENOUGH * float(slope @ (there - at)):
                break
        else:
            break
        curvature = _learnt(curvature, there - at, new_slope - slope)
        at, value, slope = there, new, new_slope
    return Lowest(at, value, curvature)


def _step(at: Floats, slope: Floats, curvature: Floats, low: Floats, high: Floats) -> Floats:
    """To the lowest point as it seems from here, along coordinates that are not held by the box."""
    free = ~((at <= low) & (slope > 0) | (at >= high) & (slope < 0))
    step = np.zeros(len(at))
    step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
    return np.asarray(step * min(1.0, _LONGEST / max(float(np.abs(step).max()), _LONGEST)))


def _learnt(curvature: Floats, step: Floats, change: Floats) -> Floats:
    """The curvature that also explains how the slope has changed along a step."""
    along = curvature @ step
    if step @ change <= 1e-10 * (step @ along):
        return curvature
    return np.asarray(curvature - np.outer(along, along) / (step @ along) + np.outer(change, change) / (step @ change))
