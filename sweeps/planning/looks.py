"""Looks: which configurations were confirmed on test data, with how many seeds, and what they were compared by.

More than one is told in the report, and so is what was compared before and is no longer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Point, Study


@dataclass(frozen=True)
class Look:
    """A confirmation whose test numbers could be seen.

    Args:
        arm, point: of what.
        n: with how many seeds.
        choice: 16 hexadecimal digits that name the configuration, whatever the seed.
        metrics: by which arms were compared; empty of a look that is older than this record.
        primary: the one that was tested first; None likewise.
    """

    arm: str
    point: Point
    n: int
    choice: str
    metrics: tuple[str, ...] = ()
    primary: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the journal."""
        by = {"metrics": list(self.metrics), "primary": self.primary} if self.metrics else {}
        return {"arm": self.arm, "point": dict(self.point), "n": self.n, "choice": self.choice, **by}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Look:
        """The inverse of `to_dict`."""
        by = tuple(plain.get("metrics", ())), plain.get("primary")
        return cls(plain["arm"], plain["point"], plain["n"], plain["choice"], *by)


def look_at(runs: Sequence[PlannedRun], study: Study) -> Look:
    """The look at a configuration with all of its seeds."""
    first = runs[0]
    name = hashlib.sha256(first.config.with_seed(0).key.encode()).hexdigest()[:16]
    point = json.loads(json.dumps(dict(first.point)))
    return Look(first.arm, point, len(runs), name, study.compared, study.primary)
