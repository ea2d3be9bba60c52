"""Tables of scores with holes: what is there, and the complete part that models of the whole table need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def score_table(scores: npt.ArrayLike, *, axes: int) -> Floats:
    """Scores as an array of so many axes, the seeds last; NaN is a run without a score.

    Raises:
        ValueError: another number of axes, an infinite score, or none at all.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != axes:
        raise ValueError(f"scores must have {axes} axes, got {table.ndim}.")
    if np.isinf(table).any():
        raise ValueError(f"scores must be finite or NaN, got {table[np.isinf(table)][0]}.")
    if not np.isfinite(table).any():
        raise ValueError(f"one score at least must be a number, got {table.size} without one.")
    return table


def complete_block(present: Flags) -> tuple[npt.NDArray[np.intp], ...]:
    """The indices along each axis that remain when slices with holes are left out until there is no hole.

    The rule: leave out the slice (a level of some axis; the seeds are an axis as well) with the largest share of holes,
    the later axis and then the later index among equals, and look again. So a value that always fails goes and its
    seeds stay, and a seed that is missing throughout goes and the values stay.

    Args:
        present: (levels of the first axis, ..., seeds): where a score is.
    """
    kept = [np.arange(size) for size in present.shape]
    while present.size and not present.all():
        shares = [1 - present.mean(axis=_others(axis, present.ndim)) for axis in range(present.ndim)]
        axis = max(range(present.ndim), key=lambda one: (shares[one].max(), one))
        level = int(np.flatnonzero(shares[axis] == shares[axis].max())[-1])
        present = np.delete(present, level, axis)
        kept[axis] = np.delete(kept[axis], level)
    return tuple(kept)


def left_out(kept: tuple[npt.NDArray[np.intp], ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The indices along each axis that a complete block lacks."""
    return tuple(tuple(sorted(set(range(size)) - set(one.tolist()))) for one, size in zip(kept, shape, strict=True))


def _others(axis: int, axes: int) -> Any:
    return tuple(one for one in range(axes) if one != axis)
