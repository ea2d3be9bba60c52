"""Reports of studies that vary hyperparameters, with made-up results that depend on them in a known way."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.run_result import RunResult

PLAIN: dict[str, Any] = {
    "study": "varied",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "training": {"epochs": 2, "batch_size": 64},
    "k": [2],
    "arms": {"cross_entropy": {}, "avgk": {"k": 2}},
    "confirm": {"seeds": 3},
    "compare": {"baseline": "cross_entropy"},
}

Outcome = Callable[[PlannedRun], RunResult]
Reported = Callable[..., Report]


def hill(run: PlannedRun) -> RunResult:
    """Best at alpha 2, flat from 1 to 4 and falling steeply beyond; batch sizes and seeds add what they do to all."""
    alpha = run.config.loss.get("alpha", 2.0)
    off = max(0.0, abs(math.log10((alpha or 1e-3) / 2)) - 0.31)
    size = run.config.training.batch_size
    z = 2.0 - 1.5 * off - (0.0 if size == "full" else 0.1 * abs(math.log2(size / 64)))
    z += random.Random(run.seed).gauss(0, 0.05) + random.Random(run.key).gauss(0, 0.02)
    value = round(2000 / (1 + math.exp(-z))) / 2000
    splits = ("val", "test") if run.config.test else ("val",)
    metrics = {f"{split}/{rule}2_accuracy": value for split in splits for rule in ("top", "avg")}
    return RunResult(key=run.key, status="done", metrics=metrics)


@pytest.fixture
def reported() -> Reported:
    """Calls give the report of a study with these sections, whose runs come out as an outcome says."""

    def call(outcome: Outcome = hill, *, most: int | None = None, **sections: Any) -> Report:
        study = read_study(PLAIN | sections)
        planner = Planner(study)
        done = 0
        while (most is None or done < most) and isinstance(run := planner.next_run(), PlannedRun):
            planner.tell(outcome(run))
            done += 1
        return build_report(study, planner.runs())

    return call


@pytest.fixture
def grid() -> Mapping[str, Any]:
    """Nine alphas, five seeds."""
    return {"sensitivity": {"avgk.alpha": 9, "seeds": 5}}
