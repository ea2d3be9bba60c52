"""Which metrics a study has in MLflow, by name: those of runs, their curves, and the statistics of aggregates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from setsweep.sweeps.study.study import Stage, Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import (
    CLASSES_PRESENT,
    TRAIN_LOSS,
    Metric,
    all_metrics,
    conformal_metrics,
    plain_accuracies,
    users_metric,
)

STATISTICS = ("mean", "ci_low", "ci_high", "std", "n")  # of a final value
BAND = ("mean", "ci_low", "ci_high")  # of an epoch


def curve_metrics(study: Study) -> list[str]:
    """What MLflow has by epoch: the training loss, the accuracies on validation, and what else of validation the study
    is about, such as a mean over classes that it compares by. Nobody draws the rest, which has its final value alone.
    """
    asked = (*(study.search.objectives if study.search else ()), *study.compared, *study.compare.show)
    about = [metric for metric in map(Metric.parse, asked) if metric.conformal is None and metric.at is None]
    drawn = [*plain_accuracies(study.k), *about, *map(users_metric, study.metrics)]
    return list(dict.fromkeys([TRAIN_LOSS.name, *(metric.on("val").name for metric in drawn)]))


def recorded(result: RunResult, curves: Collection[str]) -> RunResult:
    """The result as MLflow has it: with those of its curves alone, and without the number of classes of a split."""
    metrics = {name: value for name, value in result.metrics.items() if not name.endswith(CLASSES_PRESENT.name)}
    return replace(
        result, metrics=metrics, curves={name: result.curves[name] for name in result.curves if name in curves}
    )


def run_metrics(study: Study) -> list[str]:
    """All metrics that a run can have in MLflow."""
    known = [*all_metrics(study.k), *map(users_metric, study.metrics)]
    splits = [metric.on(split).name for metric in known for split in ("val", "test")]
    splits += [metric.on("test").name for metric in conformal_metrics(study.conformal_sets)]
    return [TRAIN_LOSS.name, *splits]


def aggregate_metrics(study: Study, stage: Stage) -> list[str]:
    """All metrics that an aggregate of a stage can have."""
    names = run_metrics(study)
    own = names if stage == "confirm" else [name for name in names if not name.startswith("test/")]
    return [f"{name}/{statistic}" for name in own for statistic in STATISTICS]
