"""What a study may take at most: beyond it the sweep ends with what it has. No part of what decides a result."""

from __future__ import annotations

from dataclasses import dataclass

from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.trainables.settings.rules import real, whole
from setsweep.trainables.settings.setting import Setting


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a study may take.

    Args:
        max_time: hours of a sweep; of one that goes on with a study, from there.
        max_runs: runs that are trained in all.
        max_gpu_hours: of all runs together; a run that has a share of a GPU takes that share of its time.
    """

    max_time: float | None = None
    max_runs: int | None = None
    max_gpu_hours: float | None = None


BUDGET: dict[str, Setting] = {
    "max_time": Setting(real(above=0), None, "of a sweep, then it ends with what it has", unit="hours"),
    "max_runs": Setting(whole(1), None, "that are trained in all", unit="runs"),
    "max_gpu_hours": Setting(real(above=0), None, "of all runs together", unit="GPU hours"),
}


def read_budget(findings: Findings, *, gpus: object) -> Budget:
    """The budget of a study whose runs have so much of a GPU."""
    budget = Budget(**Section(findings, ("budget",), BUDGET).read_all(BUDGET))
    if budget.max_gpu_hours is not None and gpus == 0:
        findings.add(("budget", "max_gpu_hours"), "must be left out where runs have no GPU (resources.gpus is 0).")
    return budget
