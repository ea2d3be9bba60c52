"""Means and intervals over the seeds of one configuration: of its final metrics, and epoch by epoch.

A seed that diverged or failed is never averaged away silently: it is named in `failed`, and `n` counts the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.methods.intervals import MeanInterval, mean_interval
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric

Runs = Sequence[tuple[PlannedRun, RunResult | None]]  # None: not done yet
STATISTICS = ("mean", "ci_low", "ci_high", "std", "n")  # those of an aggregate, in the order that tables have them


@dataclass(frozen=True, kw_only=True)
class Aggregate(OfCandidate):
    """One final metric of one configuration over its seeds.

    Args:
        candidate: the configuration.
        metric: record name, e.g. "test/avg2_accuracy".
        mean, ci_low, ci_high, std: see `MeanInterval`; None where `n` values do not define them.
        n: how many seeds are averaged: those done, whose metric is a number.
        seeds: the seeds planned.
        failed: seed to reason, of the runs that diverged or failed.
        values: seed to value, of the runs done; None where the metric is undefined (not a finite number).
        diverged: those of `failed` that diverged; the others failed for want of memory, a worker or by an error.
        mean_failed_as_0: of an accuracy, the mean in which the seeds that diverged count as 0; None for other metrics.
    """

    candidate: Candidate
    metric: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    std: float | None
    n: int
    seeds: tuple[int, ...]
    failed: Mapping[int, str]
    values: Mapping[int, float | None]
    diverged: tuple[int, ...]
    mean_failed_as_0: float | None

    @property
    def numbers(self) -> dict[int, float]:
        """Those of `values` that are defined."""
        return {seed: value for seed, value in self.values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class EpochAggregate(OfCandidate):
    """One curve of one configuration over its seeds; each tuple has an entry per epoch, see `MeanInterval`."""

    candidate: Candidate
    metric: str
    epochs: tuple[int, ...]
    mean: tuple[float | None, ...]
    ci_low: tuple[float | None, ...]
    ci_high: tuple[float | None, ...]
    std: tuple[float | None, ...]
    n: tuple[int, ...]


def aggregate(runs: Runs, *, confidence: float, pilot: int | None = None) -> list[Aggregate]:
    """An aggregate for each configuration with a result and each of its final metrics, ordered by name.

    A configuration none of whose runs is done has the metrics of its stage, with n = 0, so that it is seen.

    Args:
        runs: with their results.
        confidence: of the intervals.
        pilot: how many of the first seeds of a confirmation have decided its number: its intervals are then those of
            `two_stage_interval`. None: the number was given.
    """
    groups = [group for group in _groups(runs) if any(group.results.values())]
    stages = {group.candidate.stage for group in groups}
    of_stage = {stage: _metric_names(each for each in groups if each.candidate.stage == stage) for stage in stages}
    return [
        _aggregate(group, metric, confidence, None if group.candidate.stage == "search" else pilot)
        for group in groups
        for metric in _metric_names([group]) or of_stage[group.candidate.stage]
    ]


def epoch_aggregates(runs: Runs, *, confidence: float) -> list[EpochAggregate]:
    """An aggregate for each configuration and each curve of its runs that are done, ordered by name."""
    return [
        _epoch_aggregate(group, metric, confidence)
        for group in _groups(runs)
        for metric in sorted({name for result in group.done.values() for name in result.curves})
    ]


@dataclass(frozen=True)
class _Group:
    """The runs that differ in their seed alone: what they have in common, and the results by ascending seed."""

    candidate: Candidate
    results: Mapping[int, RunResult | None]

    @cached_property
    def done(self) -> dict[int, RunResult]:
        return {seed: result for seed, result in self.results.items() if result and result.status == "done"}

    @cached_property
    def failed(self) -> dict[int, str]:
        return {
            seed: result.reason or result.status
            for seed, result in self.results.items()
            if result and result.status != "done"
        }

    @cached_property
    def diverged(self) -> tuple[int, ...]:
        return tuple(seed for seed, result in self.results.items() if result and result.status == "diverged")


def _groups(runs: Runs) -> list[_Group]:
    found: dict[Candidate, dict[int, RunResult | None]] = {}
    for run, result in runs:
        found.setdefault(run.candidate, {})[run.seed] = result
    groups = [_Group(candidate, dict(sorted(results.items()))) for candidate, results in found.items()]
    return sorted(groups, key=_order)


def _order(group: _Group) -> tuple[str, str, str, int]:
    one = group.candidate
    return (one.arm, repr(one.point), one.stage, -1 if one.trial is None else one.trial)


def _aggregate(group: _Group, metric: str, confidence: float, pilot: int | None) -> Aggregate:
    values = {seed: _finite(result.metrics[metric]) for seed, result in group.done.items() if metric in result.metrics}
    numbers = {seed: value for seed, value in values.items() if value is not None}
    first = sum(seed in numbers for seed in list(group.results)[:pilot])
    interval = mean_interval(list(numbers.values()), confidence=confidence, pilot=first if pilot else None)
    return Aggregate(
        candidate=group.candidate,
        metric=metric,
        mean=interval.mean,
        ci_low=interval.ci_low,
        ci_high=interval.ci_high,
        std=interval.std,
        n=interval.n,
        seeds=tuple(group.results),
        failed=group.failed,
        values=values,
        diverged=group.diverged,
        mean_failed_as_0=_failed_as_0(metric, interval, len(group.diverged)),
    )


def _failed_as_0(metric: str, found: MeanInterval, diverged: int) -> float | None:
    known = Metric.find(metric)
    counted = found.n + diverged
    if known is None or not known.is_accuracy or not counted:
        return None
    return (found.mean or 0.0) * found.n / counted if diverged else found.mean


def _epoch_aggregate(group: _Group, metric: str, confidence: float) -> EpochAggregate:
    by_epoch = _values_by_epoch(group.done.values(), metric)
    intervals: list[MeanInterval] = [mean_interval(values, confidence=confidence) for values in by_epoch.values()]
    return EpochAggregate(
        candidate=group.candidate,
        metric=metric,
        epochs=tuple(by_epoch),
        mean=tuple(interval.mean for interval in intervals),
        ci_low=tuple(interval.ci_low for interval in intervals),
        ci_high=tuple(interval.ci_high for interval in intervals),
        std=tuple(interval.std for interval in intervals),
        n=tuple(interval.n for interval in intervals),
    )


def _values_by_epoch(results: Iterable[RunResult], metric: str) -> dict[int, list[float]]:
    by_epoch: dict[int, list[float]] = {}
    for result in results:
        if metric in result.curves:
            for epoch, value in zip(result.epochs, result.curves[metric], strict=True):
                by_epoch.setdefault(epoch, []).extend([value] if math.isfinite(value) else [])
    return dict(sorted(by_epoch.items()))


def _metric_names(groups: Iterable[_Group]) -> list[str]:
    return sorted({name for group in groups for result in group.done.values() for name in result.metrics})


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
