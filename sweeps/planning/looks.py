"""Looks: which configurations were confirmed on test data, with how many seeds. More than one is told in the report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Point


@dataclass(frozen=True)
class Look:
    """A confirmation whose test numbers could be seen.

    Args:
        arm, point: of what.
        n: with how many seeds.
        choice: 16 hexadecimal digits that name the configuration, whatever the seed.
    """

    arm: str
    point: Point
    n: int
    choice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the journal."""
        return {"arm": self.arm, "point": dict(self.point), "n": self.n, "choice": self.choice}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Look:
        """The inverse of `to_dict`."""
        return cls(plain["arm"], plain["point"], plain["n"], plain["choice"])


def look_at(runs: Sequence[PlannedRun]) -> Look:
    """The look at a configuration with all of its seeds."""
    first = runs[0]
    name = hashlib.sha256(first.config.with_seed(0).key.encode()).hexdigest()[:16]
    return Look(first.arm, json.loads(json.dumps(dict(first.point))), len(runs), name)
