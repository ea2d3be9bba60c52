"""Search spaces as unit cubes: a coordinate between 0 and 1 for each searched value, even on its declared scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setsweep.sweeps.study.space import Space

if TYPE_CHECKING:
    import numpy as np


def from_cube(spaces: Mapping[str, Space], coordinates: Sequence[float]) -> dict[str, Any]:
    """The values by path at a point of the unit cube."""
    return {path: _value(space, float(at)) for (path, space), at in zip(spaces.items(), coordinates, strict=True)}


def to_cube(spaces: Mapping[str, Space], values: Mapping[str, Any]) -> list[float]:
    """The point of the unit cube of these values; a value of a finite space is the middle of what gives it."""
    return [_coordinate(space, values[path]) for path, space in spaces.items()]


def sobol(dimensions: int, count: int, seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The first points of a scrambled Sobol sequence (Owen), (count, dimensions); further ones change none of them."""
    from scipy.stats import qmc

    points: np.ndarray[Any, np.dtype[np.float64]]
    points = qmc.Sobol(dimensions, scramble=True, seed=seed).random_base2(max(0, math.ceil(math.log2(count))))
    return points[:count]


def _value(space: Space, at: float) -> Any:
    if space.low is None or space.high is None:
        return space.choices[min(int(at * len(space.choices)), len(space.choices) - 1)]
    low, high = _ends(space)
    if space.kind.startswith("log"):
        value = math.exp(math.log(low) + at * (math.log(high) - math.log(low)))
    else:
        value = low + at * (high - low)
    value = min(max(round(value) if space.size is not None else value, space.low), space.high)
    return int(value) if space.size is not None else value


def _coordinate(space: Space, value: Any) -> float:
    if space.low is None or space.high is None:
        return (space.choices.index(value) + 0.5) / len(space.choices)
    low, high = _ends(space)
    if space.kind.startswith("log"):
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    return float((value - low) / (high - low))


def _ends(space: Space) -> tuple[float, float]:
    """Of whole numbers each has its neighbourhood of one half."""
    assert space.low is not None
    assert space.high is not None
    return (space.low, space.high) if space.size is None else (space.low - 0.5, space.high + 0.5)
