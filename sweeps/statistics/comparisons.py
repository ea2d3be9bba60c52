"""Which differences between arms are real: every arm against the baseline, paired by seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.corrections import corrected
from setsweep.sweeps.statistics.intervals import PairedDifference, paired_difference
from setsweep.sweeps.study.study import Compare, point_key
from setsweep.trainables.evaluation.metric import Metric


@dataclass(frozen=True, kw_only=True)
class Comparison(OfCandidate):
    """Arm minus baseline on one metric at one point of the grid; see `PairedDifference`.

    Args:
        candidate: the arm's confirmed configuration there.
        p_corrected: `p` corrected over all comparisons of the study; None where `p` is.
        n: how many seeds both have.
    """

    candidate: Candidate
    baseline: str
    metric: str
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_corrected: float | None
    n: int


def compare(aggregates: Sequence[Aggregate], settings: Compare) -> list[Comparison]:
    """Every arm against the baseline on the confirmation's metrics, in the order of the aggregates.

    Without named metrics these are the top-k and average-k test accuracies. Empty where there is no baseline.
    A comparison whose p-value is not defined (fewer than two common seeds) does not count in the correction.
    """
    baseline = settings.baseline
    if baseline is None:
        return []
    confirmed = [a for a in aggregates if a.stage == "confirm" and _is_compared(a.metric, settings)]
    arms = [a for a in confirmed if a.arm != baseline]
    of_baseline = {_place(a): _values(a) for a in confirmed if a.arm == baseline}
    differences = [
        paired_difference(_values(arm), of_baseline.get(_place(arm), {}), confidence=settings.confidence)
        for arm in arms
    ]
    p_values = corrected([difference.p for difference in differences], settings.correction)
    return [
        _comparison(arm, baseline, difference, p)
        for arm, difference, p in zip(arms, differences, p_values, strict=True)
    ]


def _comparison(arm: Aggregate, baseline: str, found: PairedDifference, p_corrected: float | None) -> Comparison:
    return Comparison(
        candidate=arm.candidate,
        baseline=baseline,
        metric=arm.metric,
        difference=found.difference,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        p=found.p,
        p_corrected=p_corrected,
        n=found.n,
    )


def _is_compared(metric: str, settings: Compare) -> bool:
    if settings.metrics:
        return metric in settings.metrics
    known = Metric.find(metric)
    return known is not None and known.is_accuracy and known.split == "test" and known == known.plain


def _place(aggregate: Aggregate) -> tuple[str, str]:
    return point_key(aggregate.point), aggregate.metric


def _values(aggregate: Aggregate) -> dict[int, float]:
    return {seed: value for seed, value in aggregate.values.items() if value is not None}
