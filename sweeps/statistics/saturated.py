"""Runs whose sets are saturated: of an objective or primary metric whose average-k sets ignore k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.planning.choice import is_saturated, size_of_sets
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Stage, Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric

_CONFIRMED: tuple[Stage, ...] = ("confirm", "front", "default")


@dataclass(frozen=True, kw_only=True)
class Saturated(OfCandidate):
    """A configuration some of whose seeds have saturated sets.

    Args:
        candidate: the configuration.
        metric: on validation, whose sets they are.
        seeds: those whose sets are saturated.
        runs: how many have ended.
        size: the mean size of the largest of these sets, in labels.
    """

    candidate: Candidate
    metric: str
    seeds: tuple[int, ...]
    runs: int
    size: float


def saturated(study: Study, runs: Iterable[tuple[PlannedRun, RunResult | None]]) -> list[Saturated]:
    """Trials by the search's objective, and what is confirmed by the study's primary metric, in the order of `runs`."""
    confirmed = Metric.parse(study.primary).on("val").name
    names: dict[str, str] = dict.fromkeys(_CONFIRMED, confirmed)
    if study.search is not None:
        names["search"] = study.search.objective
    groups: dict[Candidate, list[tuple[int, RunResult]]] = {}
    for run, result in runs:
        if result is not None and run.stage in names:
            groups.setdefault(run.candidate, []).append((run.seed, result))
    found = []
    for candidate, own in groups.items():
        name = names[candidate.stage]
        sizes = {seed: size_of_sets(result, name) or 0.0 for seed, result in own if is_saturated(result, name)}
        if sizes:
            each = Saturated(
                candidate=candidate, metric=name, seeds=tuple(sizes), runs=len(own), size=max(sizes.values())
            )
            found.append(each)
    return found
