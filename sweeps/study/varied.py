"""What a sensitivity study varies, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The values of one hyperparameter in a sensitivity study.

    Args:
        path: as the study has it, e.g. "avgk.alpha" or "training.batch_size".
        values: in order.
        log: whether they stand on a logarithmic scale.
    """

    path: str
    values: tuple[Any, ...]
    log: bool = False


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """A designed study of how results depend on hyperparameters.

    Args:
        axes: what is varied; an arm has those that concern it: one as a grid, two as a full grid, more as points of a
            Sobol sequence on the full grid.
        seeds: every configuration is trained with each of them.
        at: where everything else stands: at what the search has chosen, or at its default.
        points: how many points an arm with three hyperparameters or more has at most.
    """

    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    at: Literal["chosen", "default"] = "chosen"
    points: int = 64
