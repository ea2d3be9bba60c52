"""Differences between arms image by image: what other test images would change, and single trained models compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.methods.images import CrossedInterval, McNemar, crossed_interval, mcnemar
from setsweep.sweeps.study.study import Study, point_key
from setsweep.trainables.config.hits import Hits
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric

if TYPE_CHECKING:
    from setsweep.sweeps.statistics.methods.images import Packed

Pairs = dict[int, tuple[Hits, Hits]]  # by seed: the arm's, the baseline's


@dataclass(frozen=True, kw_only=True)
class OverImages(OfCandidate):
    """One contrast of the primary metric, image by image.

    Args:
        candidate: the arm's confirmed configuration.
        baseline: what is taken from it.
        metric: the primary.
        images: how many test images there are; None where no seed could be compared.
        crossed: the difference with its interval over seeds and test images; None where that makes no sense.
        by_seed: McNemar's test of the two models of each seed.
        problem: why some of it is missing; None: nothing is.
    """

    candidate: Candidate
    baseline: str
    metric: str
    images: int | None = None
    crossed: CrossedInterval | None = None
    by_seed: Mapping[int, McNemar]
    problem: str | None = None


def over_images(
    comparisons: Sequence[Comparison], runs: Iterable[tuple[PlannedRun, RunResult | None]], study: Study
) -> list[OverImages]:
    """Every contrast of the primary metric, where the study asks for that (`compare.images`)."""
    if not study.compare.images:
        return []
    hits: dict[tuple[str, str], dict[int, Hits | None]] = {}
    for run, result in runs:
        if run.stage == "confirm" and result is not None and result.status == "done":
            hits.setdefault((run.arm, point_key(run.point)), {})[run.seed] = result.hits
    found = []
    for each in comparisons:
        if each.details is not None:
            ours, theirs = (hits.get((arm, point_key(each.point)), {}) for arm in (each.arm, each.baseline))
            found.append(_found(each, ours, theirs, study.compare.confidence))
    return found


def _found(
    comparison: Comparison, ours: Mapping[int, Hits | None], theirs: Mapping[int, Hits | None], confidence: float
) -> OverImages:
    name = Metric.parse(comparison.metric).on(None).name
    kept = _kept(name, ours, theirs)
    alike = {seed: pair for seed, pair in kept.items() if pair[0].order == pair[1].order}
    first = next(iter(alike.values()), None)
    problem = _problem(comparison, kept, alike)
    images = None if first is None else first[0].images
    by_seed = {
        seed: mcnemar(_bits(one, name), _bits(other, name), images=one.images) for seed, (one, other) in alike.items()
    }
    crossed = None
    if problem is None and images is not None:
        values, baseline = ({seed: _bits(pair[side], name) for seed, pair in alike.items()} for side in (0, 1))
        crossed = crossed_interval(values, baseline, images=images, confidence=confidence)
    return OverImages(
        candidate=comparison.candidate,
        baseline=comparison.baseline,
        metric=comparison.metric,
        images=images,
        crossed=crossed,
        by_seed=by_seed,
        problem=problem,
    )


def _kept(name: str, ours: Mapping[int, Hits | None], theirs: Mapping[int, Hits | None]) -> Pairs:
    """The seeds of which both sides have kept these hits."""
    found: Pairs = {}
    for seed in sorted(ours.keys() & theirs.keys()):
        one, other = ours[seed], theirs[seed]
        if one is not None and other is not None and name in one.bits and name in other.bits:
            found[seed] = one, other
    return found


def _problem(comparison: Comparison, kept: Pairs, alike: Pairs) -> str | None:
    metric = Metric.parse(comparison.metric)
    if not metric.is_accuracy or metric.macro or metric.at is not None:
        return f"{metric.name} is no mean over test images at an epoch of its own"
    if comparison.n and not kept:
        return "its runs, or the baseline's, are older than the record of hits"
    if len(alike) < len(kept):
        return "the two have other test images, or the same in another order"
    if len({one.order for one, _ in alike.values()}) > 1:
        return "every seed has test images of its own"
    return None


def _bits(hits: Hits, name: str) -> Packed:
    import numpy as np  # imported late: listing studies must not wait for it

    return np.frombuffer(hits.bits[name], dtype=np.uint8)
