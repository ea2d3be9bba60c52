"""The report of a study: what its runs so far say, as data that every table and figure is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.planning.counts import count_runs
from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.reports.examples import Examples, read_examples
from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate
from setsweep.sweeps.statistics.comparisons import Comparison, compare
from setsweep.sweeps.statistics.failures import Divergence, divergences
from setsweep.sweeps.statistics.methods.pooled import PooledInterval, pooled_intervals
from setsweep.sweeps.statistics.over_images import OverImages, over_images
from setsweep.sweeps.statistics.over_sets import OverSets, over_sets
from setsweep.sweeps.statistics.published import Beside, beside_published
from setsweep.sweeps.statistics.saturated import Saturated, saturated
from setsweep.sweeps.statistics.searched import Searched, searched
from setsweep.sweeps.statistics.spent import Spent, spent
from setsweep.sweeps.statistics.unusual import Unusual, unusual_seeds
from setsweep.sweeps.study.study import Point, Study, point_key
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Runs by their state; `failed` holds the diverged ones too, and all but `planned` add up to `planned`.

    Those are counted, too, that are not decided yet: it is the number that a plan has told.
    """

    planned: int
    done: int
    failed: int
    waiting: int


@dataclass(frozen=True, kw_only=True)
class Chosen(OfCandidate):
    """The configuration of an arm at a point that is confirmed.

    Args:
        candidate: the configuration.
        seeds: the seeds planned.
        done, failed: how many of them have ended, and how.
    """

    candidate: Candidate
    seeds: tuple[int, ...]
    done: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Failure(OfCandidate):
    """A run that diverged or failed, and why."""

    candidate: Candidate
    seed: int
    reason: str
    kind: Literal["diverged", "error", "memory", "worker"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the runs of a study say; every sequence is in the order of the study's arms and points.

    Args:
        aggregates: of both stages.
        comparisons: every arm against the baseline, and further pairs; empty without either.
        chosen: the configurations in confirmation.
        failures: the runs that diverged or failed.
        unconfirmed: arm and point of each confirmation that is not finished.
        complete: no run is waiting and every arm is confirmed at every point.
        searches: what each search has come to.
        looks: the confirmations whose test numbers could be seen, in the order of time.
        search_intervals: of the objective of each trial, with the variance of all trials, see `pooled_intervals`.
        unusual: seeds of the confirmation whose primary metric lies far from the others'.
        spent: what each arm was given.
        over_sets: the contrasts of the primary metric over all data sets, where the grid has several.
        published: numbers of papers, and ours beside them.
        over_images: the contrasts of the primary metric image by image, where the study asks for that.
        saturated: the configurations whose sets ignore k.
        examples: test images with their sets, where some are kept beside the report.
        divergences: how often runs diverged or failed, of the arms and stages where some did.
    """

    study: Study
    aggregates: tuple[Aggregate, ...]
    comparisons: tuple[Comparison, ...]
    chosen: tuple[Chosen, ...]
    failures: tuple[Failure, ...]
    unconfirmed: tuple[tuple[str, Point], ...]
    counts: Counts
    complete: bool
    search_intervals: Mapping[Candidate, PooledInterval]
    unusual: tuple[Unusual, ...]
    spent: tuple[Spent, ...]
    divergences: tuple[Divergence, ...]
    over_sets: tuple[OverSets, ...]
    over_images: tuple[OverImages, ...] = ()
    saturated: tuple[Saturated, ...] = ()
    searches: tuple[Searched, ...] = ()
    looks: tuple[Look, ...] = ()
    published: tuple[Beside, ...] = ()
    examples: tuple[Examples, ...] = ()

    @cached_property
    def confirmed(self) -> tuple[Aggregate, ...]:
        """Those of `aggregates` that the test numbers come from."""
        return tuple(one for one in self.aggregates if one.stage == "confirm")

    @cached_property
    def at_place(self) -> Mapping[tuple[str, str], Sequence[Aggregate]]:
        """`aggregates` by arm and point, see `Candidate.place`."""
        places: dict[tuple[str, str], list[Aggregate]] = {}
        for one in self.aggregates:
            places.setdefault(one.candidate.place, []).append(one)
        return places


def build_report(
    study: Study,
    runs: Sequence[tuple[PlannedRun, RunResult | None]],
    looks: Sequence[Look] = (),
    *,
    total: int | None = None,
) -> Report:
    """The report of `runs`; it does not depend on their order.

    Args:
        study: that they are of.
        runs: all that the study has asked for so far; None marks a run that is not done yet.
        looks: the confirmations that were complete, now and before.
        total: how many runs there will be; None: those that there are.
    """
    arms = {name: index for index, name in enumerate(study.arms)}
    places = {(arm, point_key(point)): (a, p) for arm, a in arms.items() for p, point in enumerate(study.points())}

    def order(entry: PlannedRun | Aggregate) -> tuple[tuple[int, int], str, int]:
        one = entry.candidate
        return places[one.place], one.stage, -1 if one.trial is None else one.trial

    asked = [(run, result and with_values_at(result, study.at_epochs)) for run, result in runs]
    ordered = sorted(asked, key=lambda pair: (order(pair[0]), pair[0].seed))
    aggregates = sorted(aggregate(ordered, confidence=study.compare.confidence, pilot=study.pilot), key=order)
    comparisons = compare(aggregates, study)
    counts = _counts(ordered, total)
    chosen = _chosen(ordered)
    confirmed = {c.candidate.place for c in chosen if c.done + c.failed == len(c.seeds)}
    unconfirmed = [(arm, p) for arm in arms for p in study.points() if (arm, point_key(p)) not in confirmed]
    return Report(
        study=study,
        aggregates=tuple(aggregates),
        comparisons=tuple(comparisons),
        chosen=chosen,
        failures=_failures(ordered),
        unconfirmed=tuple(unconfirmed),
        counts=counts,
        complete=counts.waiting == 0 and not unconfirmed,
        saturated=tuple(saturated(study, ordered)),
        searches=tuple(searched(study, ordered)),
        looks=tuple(looks),
        search_intervals=_search_intervals(study, aggregates),
        unusual=tuple(_unusual(study, aggregates)),
        spent=tuple(spent(study, ordered)),
        divergences=tuple(divergences(ordered, confidence=study.compare.confidence)),
        over_sets=tuple(over_sets(comparisons, study)),
        published=tuple(beside_published(study, aggregates)),
        over_images=tuple(over_images(comparisons, ordered, study)),
    )


def with_examples(report: Report, folder: Path) -> Report:
    """The report with the test images that lie in a study's folder; those of other arms and points are left out."""
    points, arms = {point_key(point) for point in report.study.points()}, set(report.study.arms)
    own = [each for each in read_examples(folder) if point_key(each.point) in points and each.by in arms]
    return replace(report, examples=tuple(own))


def _search_intervals(study: Study, aggregates: Sequence[Aggregate]) -> dict[Candidate, PooledInterval]:
    if study.search is None:
        return {}
    trials = [a for a in aggregates if a.stage == "search" and a.metric == study.search.objective]
    pooled = pooled_intervals([a.numbers for a in trials], confidence=study.compare.confidence)
    return {trial.candidate: interval for trial, interval in zip(trials, pooled.intervals, strict=True)}


def _unusual(study: Study, aggregates: Sequence[Aggregate]) -> list[Unusual]:
    return unusual_seeds([a for a in aggregates if a.stage == "confirm" and a.metric == study.primary])


def _counts(runs: Sequence[tuple[PlannedRun, RunResult | None]], total: int | None = None) -> Counts:
    counted = count_runs((result for _, result in runs), max(len(runs), total or 0))
    failed = counted.diverged + counted.failed
    return Counts(planned=counted.total, done=counted.done, failed=failed, waiting=counted.left)


def _chosen(runs: Sequence[tuple[PlannedRun, RunResult | None]]) -> tuple[Chosen, ...]:
    groups: dict[Candidate, list[tuple[PlannedRun, RunResult | None]]] = {}
    for run, result in runs:
        if run.stage == "confirm":
            groups.setdefault(run.candidate, []).append((run, result))
    return tuple(_chosen_one(candidate, members) for candidate, members in groups.items())


def _chosen_one(candidate: Candidate, members: Sequence[tuple[PlannedRun, RunResult | None]]) -> Chosen:
    counts = _counts(members)
    seeds = tuple(member.seed for member, _ in members)
    return Chosen(candidate=candidate, seeds=seeds, done=counts.done, failed=counts.failed)


def _failures(runs: Sequence[tuple[PlannedRun, RunResult | None]]) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            candidate=run.candidate,
            seed=run.seed,
            reason=result.reason or result.status,
            kind="diverged" if result.status == "diverged" else result.cause or "error",
        )
        for run, result in runs
        if result is not None and result.status != "done"
    )
