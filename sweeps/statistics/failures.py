"""How often an arm's runs diverge, and how often a machine failed them, which says nothing of the arm."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from setsweep.sweeps.statistics.aggregates import Runs
from setsweep.sweeps.statistics.methods.proportions import failure_rate
from setsweep.sweeps.study.study import Stage


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The runs of one arm in one stage, over all points.

    Args:
        arm, stage: which.
        runs: those that were trained to an end: done or diverged.
        diverged: how many of them diverged.
        rate, ci_low, ci_high: the share, with the interval of Clopper and Pearson; None where there is no such run.
        failed: further runs that failed by an error, for want of memory or of a worker.
    """

    arm: str
    stage: Stage
    runs: int
    diverged: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    failed: int


def divergences(runs: Runs, *, confidence: float) -> list[Divergence]:
    """A row for each arm and stage in which a run diverged or failed, in the order of the runs."""
    states: dict[tuple[str, Stage], Counter[str]] = {}
    for run, result in runs:
        if result is not None:
            states.setdefault((run.arm, run.stage), Counter())[result.status] += 1
    return [
        _divergence(arm, stage, counts, confidence)
        for (arm, stage), counts in states.items()
        if counts["diverged"] or counts["failed"]
    ]


def _divergence(arm: str, stage: Stage, counts: Counter[str], confidence: float) -> Divergence:
    ended = counts["done"] + counts["diverged"]
    rate = failure_rate(counts["diverged"], ended, confidence=confidence) if ended else None
    return Divergence(
        arm=arm,
        stage=stage,
        runs=ended,
        diverged=counts["diverged"],
        rate=rate.rate if rate else None,
        ci_low=rate.ci_low if rate else None,
        ci_high=rate.ci_high if rate else None,
        failed=counts["failed"],
    )
