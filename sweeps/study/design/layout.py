"""The configurations of a sensitivity study: a grid of one hyperparameter, a full grid of two, Sobol points of more."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from setsweep.sweeps.study.design.addresses import path_for
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.varied import Axis, Sensitivity

MAX_COMBINATIONS = 1000


def axes_of(study: Sensitivity, arm: Arm) -> dict[str, Axis]:
    """The axes that concern an arm, by path in the configuration of its runs."""
    found = ((path_for(axis.path, arm), axis) for axis in study.axes)
    return {path: axis for path, axis in found if path is not None}


def design(study: Sensitivity, arm: Arm) -> list[dict[str, Any]]:
    """The configurations that an arm is trained in, by path in the configuration of its runs; empty without an axis.

    The full grid, the last axis varying fastest; of three axes or more at most `points` of it, by a Sobol sequence that
    is always the same.
    """
    axes = axes_of(study, arm)
    if not axes:
        return []
    sizes = [len(axis.values) for axis in axes.values()]
    combinations = list(itertools.product(*(range(size) for size in sizes)))
    if len(axes) > 2 and len(combinations) > study.points:
        combinations = _spread(sizes, study.points)
    return [
        {path: axis.values[index] for (path, axis), index in zip(axes.items(), indices, strict=True)}
        for indices in combinations
    ]


def _spread(sizes: Sequence[int], points: int) -> list[tuple[int, ...]]:
    """The first distinct cells of a grid that a Sobol sequence falls into."""
    import numpy as np
    from scipy.stats import qmc

    sequence = qmc.Sobol(len(sizes), scramble=True, seed=0)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < points:
        for at in sequence.random(64):
            found.setdefault(tuple(np.minimum((at * sizes).astype(int), np.array(sizes) - 1).tolist()))
    return list(found)[:points]
