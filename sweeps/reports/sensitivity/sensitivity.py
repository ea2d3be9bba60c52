"""The sensitivity of a study: of every arm at every point, over points, and of its random searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setsweep.sweeps.planning.samplers.suggestions import sampler_of
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity.found import Findings, look_at
from setsweep.sweeps.reports.sensitivity.places import OverPoints, over_points
from setsweep.sweeps.reports.sensitivity.tried import Tried, common_seeds, designed, searched
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.sensitivity.tuning_curve import TuningCurve, tuning_curve
from setsweep.sweeps.study.design.layout import design
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.evaluation.metric import Metric, accuracy


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How good the best of k random trials of an arm at a point is; `reason` says why it is not known."""

    arm: str
    point: Point
    curve: TuningCurve | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How the results of a study depend on hyperparameters.

    Args:
        study: the study.
        metric: what the scores of a sensitivity study are.
        designs: of every arm at every point that was tried by design, in the order of the study.
        on_validation: the same by the validation twin of the metric, where the metric is of the test set.
        searches: what the trials of a search say.
        over_points: for each arm with a design at two places or more.
        tunings: for each arm that is searched, at each point.
        baseline: the confirmed baseline at each point that has it.
        waiting: how many runs of the sensitivity study have no result yet.
    """

    study: Study
    metric: str
    designs: tuple[Findings, ...]
    on_validation: tuple[Findings, ...]
    searches: tuple[Findings, ...]
    over_points: tuple[OverPoints, ...]
    tunings: tuple[Tuning, ...]
    baseline: tuple[Aggregate, ...]
    waiting: int

    def baseline_at(self, point: Point, metric: str) -> Aggregate | None:
        """The baseline's confirmed mean at a point, in the metric or its test twin."""
        found = (one for one in self.baseline if one.point == point and one.metric == metric)
        return next(found, None)

    @property
    def told(self) -> tuple[Findings, ...]:
        """What is put into words: designs, and searches of arms that have none there."""
        places = [(each.tried.arm, each.tried.point) for each in self.designs]
        return (*self.designs, *(each for each in self.searches if (each.tried.arm, each.tried.point) not in places))


def build_sensitivity(report: Report, metric: str | None = None) -> Sensitivity:
    """What the runs so far say.

    Args:
        report: of the study.
        metric: an accuracy on validation or test; None: the study's primary one.

    Raises:
        ValueError: a metric that is no accuracy of the study, or a study with nothing to say.
    """
    study = report.study
    metric = _checked(study, metric)
    confidence = study.compare.confidence
    twin = Metric.parse(metric).on("val").name
    tried = designed(report, metric)
    on_validation = designed(report, twin) if twin != metric else []
    trials = searched(report)
    if not tried and not trials:
        raise ValueError(_nothing(report))
    return Sensitivity(
        study=study,
        metric=metric,
        designs=tuple(look_at(each, confidence=confidence) for each in tried),
        on_validation=tuple(look_at(each, confidence=confidence) for each in on_validation),
        searches=tuple(look_at(each, confidence=confidence) for each in trials),
        over_points=tuple(over_points(report, metric)),
        tunings=tuple(_tuning(study, each, confidence) for each in trials),
        baseline=_baseline(report, {metric, twin}),
        waiting=_waiting(study, tried),
    )


def _waiting(study: Study, tried: Sequence[Tried]) -> int:
    """How many runs of the sensitivity study have no result yet, those included that are not decided."""
    if study.sensitivity is None:
        return 0
    configurations = sum(len(design(study.sensitivity, arm)) for arm in study.arms.values())
    there = sum(int(np.isfinite(each.failed).sum()) for each in tried)
    return configurations * len(study.sensitivity.seeds) * len(study.points()) - there


def primary_accuracy(study: Study) -> str:
    """The study's primary metric; where that is no accuracy, average-k at the largest k."""
    known = Metric.parse(study.primary)
    return known.name if known.is_accuracy else accuracy("avg", study.k[-1], split="test").name


def _checked(study: Study, metric: str | None) -> str:
    if metric is None:
        return primary_accuracy(study)
    known = Metric.find(metric)
    if known is None or not known.is_accuracy or known.split not in ("val", "test") or known.k not in study.k:
        sizes = ", ".join(map(str, study.k))
        raise ValueError(f"metric must be an accuracy on val or test with k of {sizes}, got {metric!r}.")
    return metric


def _nothing(report: Report) -> str:
    if not report.counts.done + report.counts.failed:
        return f"study {report.study.name!r} must have runs, got none yet: 'setsweep run' trains them."
    if report.study.sensitivity is not None:
        return (
            f"study {report.study.name!r} must have runs of its sensitivity study, got none yet: they begin after the "
            "choice."
        )
    if report.searches:
        return f"study {report.study.name!r} must have a trial with a number, got none: all runs of its search failed."
    return (
        f"study {report.study.name!r} must vary something, got neither a sensitivity study nor a search. "
        "Add, for example, sensitivity: {ARM.alpha: 9, seeds: 5}."
    )


def _tuning(study: Study, tried: Tried, confidence: float) -> Tuning:
    """Of the trials that were drawn at random: all but the default, which a search tries first."""
    assert study.search is not None
    arm = study.arms[tried.arm]
    scores = tried.scores[int(arm.tries_default) :, common_seeds(tried)]
    means = np.where(np.isfinite(scores).all(axis=1), np.nan_to_num(scores).mean(axis=1), np.nan)
    curve, reason = None, ""
    try:
        curve = tuning_curve(means, sampler=sampler_of(study.search, arm), confidence=confidence)
    except ValueError as error:
        reason = str(error)
    return Tuning(arm=tried.arm, point=tried.point, curve=curve, reason=reason)


def _baseline(report: Report, metrics: set[str]) -> tuple[Aggregate, ...]:
    name = report.study.compare.baseline
    return tuple(
        one for one in report.aggregates if one.stage == "confirm" and one.arm == name and one.metric in metrics
    )
