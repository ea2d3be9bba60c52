"""What a study would run and what that takes, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.planning.counts import Counts
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.cost import Cost


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A study, and what is known of its runs.

    Args:
        study: what is asked for.
        planner: of it, with what is done.
        costs: by arm, of those that have something left or were measured elsewhere.
        slots: runs at once; None: not known.
        known: whether what runs take can be known here.
    """

    study: Study
    planner: Planner
    costs: Mapping[str, Cost]
    slots: int | None
    known: bool

    @property
    def seconds(self) -> float:
        """Of training, of all that is left, on one slot."""
        return sum(cost.seconds * self.planner.counts(arm).left for arm, cost in self.costs.items())

    @property
    def wall_seconds(self) -> tuple[float, float] | None:
        """How long that takes at least and at most, by how runs fit into slots; None: on how many is not known.

        Slots that are busy to the end take the least. A slot that takes the next run as soon as it has none leaves, at
        the end, the others waiting for one run (Graham 1966); a confirmation to a precision may take all its seeds.
        """
        left = [(cost.seconds, self.planner.counts(arm).left) for arm, cost in self.costs.items()]
        longest = max((seconds for seconds, runs in left if runs), default=0.0)
        if not self.slots:
            return None
        runs = max(1, sum(runs for _, runs in left))
        most = self.seconds * (1 + (self.planner.most - self.planner.total) / runs)
        return max(self.seconds / self.slots, longest), (most - longest) / self.slots + longest


def plain_plan(plan: Plan) -> dict[str, Any]:
    """A plan as plain data; what is not known is null."""
    planner, slots, seconds = plan.planner, plan.slots, plan.seconds if plan.known else None
    return {
        "study": plan.study.name,
        "notes": list(plan.study.notes),
        "runs": {**_states(planner.counts()), "most": planner.most},
        "arms": {arm: {**_states(planner.counts(arm)), **_cost(plan.costs.get(arm))} for arm in plan.study.arms},
        "seconds": seconds,
        "slots": slots,
        "seconds_on_slots": seconds / slots if seconds is not None and slots else None,
        "wall_seconds": plan.wall_seconds if plan.known else None,
        "cpus": plan.study.resources.cpus,
        "gpus": plan.study.resources.gpus,
    }


def _states(counts: Counts) -> dict[str, int]:
    return {
        "total": counts.total,
        "done": counts.done,
        "diverged": counts.diverged,
        "failed": counts.failed,
        "left": counts.left,
    }


def _cost(cost: Cost | None) -> dict[str, float | None]:
    return {"seconds_a_run": cost.seconds if cost else None, "mebibytes": cost.mebibytes if cost else None}
