"""Which metrics a study has in MLflow, by name: those of runs, their curves, and the statistics of aggregates."""

from __future__ import annotations

from setsweep.sweeps.study.study import Stage, Study
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
    """The curves that people look at: the training loss, and the accuracies on validation."""
    return [TRAIN_LOSS.name, *(metric.on("val").name for metric in plain_accuracies(study.k))]


def has_band(metric: str) -> bool:
    """Whether an aggregate has the metric by epoch, or only its final value: nobody draws set sizes, groups of classes
    and means over classes.
    """
    found = Metric.find(metric)
    return found is None or (found.quantity in ("accuracy", "loss", "own") and not found.group and not found.macro)


def run_metrics(study: Study) -> list[str]:
    """All metrics that a run can have."""
    known = [*all_metrics(study.k), *map(users_metric, study.metrics)]
    splits = [metric.on(split).name for metric in known for split in ("val", "test")]
    splits += [metric.on("test").name for metric in conformal_metrics(study.conformal_sets)]
    return [TRAIN_LOSS.name, *splits, *(CLASSES_PRESENT.on(split).name for split in ("val", "test"))]


def aggregate_metrics(study: Study, stage: Stage) -> list[str]:
    """All metrics that an aggregate of a stage can have."""
    names = run_metrics(study)
    own = names if stage == "confirm" else [name for name in names if not name.startswith("test/")]
    return [f"{name}/{statistic}" for name in own for statistic in STATISTICS]
