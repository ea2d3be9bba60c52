"""Candidate: one configuration of a study, whatever the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from setsweep.sweeps.study.study import Point, Stage, point_key


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """What the seeds of one configuration have in common; can be a key.

    Args:
        arm: name of the arm.
        point: the grid point, path to value; empty without a grid.
        stage: "search" (chosen on validation), "confirm" (the choice with fresh seeds, test numbers), "default" (the
            default configuration, likewise), "front" (of several objectives: the other members of the front) or
            "sensitivity" (a point of a sensitivity study, likewise).
        trial: the number of the trial within its arm and point, or of the point of the sensitivity study; None of a
            choice by one objective and of the default.
        params: the arm's hyperparameters in this configuration, by short name: a loss's by their bare names
            ("alpha", "k"), other searched values by their path ("training.batch_size").
    """

    arm: str
    point: Point
    stage: Stage
    trial: int | None
    params: Mapping[str, Any]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((*self.place, self.stage, self.trial))

    @cached_property
    def place(self) -> tuple[str, str]:
        """The arm, and what names the point where a key must be hashable."""
        return self.arm, point_key(self.point)

    def plain(self) -> dict[str, Any]:
        """The fields as reports and records spell them."""
        return {
            "arm": self.arm,
            "point": dict(self.point),
            "params": dict(self.params),
            "stage": self.stage,
            "trial": self.trial,
        }


class OfCandidate:
    """Of a candidate, whose fields it has as its own."""

    candidate: Candidate

    @property
    def arm(self) -> str:
        """See `Candidate`."""
        return self.candidate.arm

    @property
    def point(self) -> Point:
        """See `Candidate`."""
        return self.candidate.point

    @property
    def stage(self) -> Stage:
        """See `Candidate`."""
        return self.candidate.stage

    @property
    def trial(self) -> int | None:
        """See `Candidate`."""
        return self.candidate.trial

    @property
    def params(self) -> Mapping[str, Any]:
        """See `Candidate`."""
        return self.candidate.params
