"""What each arm was given: configurations and runs. A difference is of what was tuned as much as of the losses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.aggregates import Runs
from setsweep.sweeps.study.study import Study, point_key


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one arm was given so far, over all points; no times, which differ from one execution to the next.

    Args:
        arm: its name.
        configurations: different ones that were tried at a point, the most of all points; 1 where nothing is searched.
        search_runs, confirm_runs: those with a result.
    """

    arm: str
    configurations: int
    search_runs: int
    confirm_runs: int


def spent(study: Study, runs: Runs) -> list[Spent]:
    """A row per arm of the study."""
    ended = [(run, result) for run, result in runs if result is not None]
    found = []
    for arm in study.arms:
        own = [(run, result) for run, result in ended if run.arm == arm]
        searching = [run for run, _ in own if run.stage == "search"]
        found.append(
            Spent(
                arm=arm,
                configurations=max(1, _configurations(searching)),
                search_runs=len(searching),
                confirm_runs=len(own) - len(searching),
            )
        )
    return found


def _configurations(runs: Iterable[PlannedRun]) -> int:
    at: dict[str, set[str]] = {}
    for run in runs:
        at.setdefault(point_key(run.point), set()).add(repr(dict(run.params)))
    return max(map(len, at.values()), default=0)
