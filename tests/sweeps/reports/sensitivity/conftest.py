"""Reports of studies that vary hyperparameters, with made-up results that depend on them in a known way."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.sensitivity.dimension import Dimension
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.reports.sensitivity.tried import Tried
from setsweep.sweeps.statistics.sensitivity.scale import Scale
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


@pytest.fixture
def tried() -> Callable[..., Tried]:
    """Calls give what was tried of avgk, without a study: a row of scores for each alpha, the seeds side by side.

    With `sizes` a row for each pair of alpha and batch size, the latter varying fastest. What has no score has failed,
    unless `failed` says otherwise; keyword arguments replace fields of `Tried`.
    """

    def call(
        scores: Any, *, alphas: Any = (0.1, 1.0, 10.0), sizes: Any = (), failed: Any = None, **fields: Any
    ) -> Tried:
        rows = np.array(scores, dtype=float)
        dimensions = [_dimension("alpha", tuple(alphas), "log", 1.0)]
        dimensions += [_dimension("training.batch_size", tuple(sizes), "linear", 64)] if sizes else []
        names = [each.name for each in dimensions]
        configurations = itertools.product(*(each.values for each in dimensions))
        plain = Tried(
            arm="avgk",
            point={},
            dimensions=tuple(dimensions),
            configurations=tuple(dict(zip(names, values, strict=True)) for values in configurations),
            seeds=tuple(range(rows.shape[1])),
            scores=rows,
            failed=np.isnan(rows).astype(float) if failed is None else np.array(failed, dtype=float),
            too_large=0,
            designed=True,
            metric="test/avg2_accuracy",
        )
        return replace(plain, **fields)

    return call


def _dimension(name: str, values: tuple[Any, ...], kind: Any, default: Any) -> Dimension:
    scale = Scale(kind=kind, low=min(values), high=max(values))
    return Dimension(name=name, values=values, scale=scale, default=default, chosen=None)


@pytest.fixture
def nothing(make_study: Any) -> Sensitivity:
    """The sensitivity of a study of which nothing is known, at a confidence of 95 %."""
    nothing_of: dict[str, Any] = dict.fromkeys(
        ("designs", "on_validation", "searches", "over_points", "tunings", "baseline"), ()
    )
    return Sensitivity(study=make_study(), metric="test/avg2_accuracy", waiting=0, **nothing_of)
