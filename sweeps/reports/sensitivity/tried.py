"""What was tried of an arm at a point of the grid, as arrays: configurations x seeds.

It comes from a sensitivity study, from a finished search, or from a search that is a full grid, which is as good as a
study of its own on validation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.choice import SATURATED
from setsweep.sweeps.planning.samplers.suggestions import sampler_of
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.sensitivity.dimension import Dimension, dimension, in_order, name_of, scale_in
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.sensitivity.block import Floats, complete_block
from setsweep.sweeps.statistics.sensitivity.scale import scale_of
from setsweep.sweeps.study.design.layout import axes_of, design
from setsweep.sweeps.study.study import Arm, Point, point_key
from setsweep.trainables.evaluation.metric import Metric, set_size


@dataclass(frozen=True, kw_only=True, eq=False)
class Tried:
    """Configurations of an arm at a point, and their scores.

    Args:
        arm, point: whose.
        dimensions: what was varied.
        configurations: the values of each, by name.
        seeds: of the columns.
        scores: (configurations, seeds); NaN without a number.
        failed: (configurations, seeds): 1 where the run diverged or failed, or where its sets are too large to be
            compared (see `planning.choice.SATURATED`), 0 where it did not, NaN: no result yet.
        too_large: how many runs have too large sets.
        designed: whether the configurations are a design; else they are the trials of a search.
        metric: what the scores are.
    """

    arm: str
    point: Point
    dimensions: tuple[Dimension, ...]
    configurations: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]
    scores: Floats
    failed: Floats
    too_large: int
    designed: bool
    metric: str

    @property
    def is_grid(self) -> bool:
        """Whether every combination of the values is there."""
        return len(self.configurations) == math.prod(len(each.values) for each in self.dimensions)

    @property
    def positions(self) -> Floats:
        """(configurations, dimensions) on the declared scales, 0 to 1."""
        columns = [each.scale.positions([own[each.name] for own in self.configurations]) for each in self.dimensions]
        return np.column_stack(columns)

    def grid(self, of: Floats | None = None) -> Floats:
        """Scores, or another array of their shape, as (values of the first, ..., seeds); NaN where none is."""
        rows = self.scores if of is None else of
        table = np.full([*(len(each.values) for each in self.dimensions), len(self.seeds)], np.nan)
        for row, own in zip(rows, self.configurations, strict=True):
            table[tuple(each.values.index(own[each.name]) for each in self.dimensions)] = row
        return table


def along(tried: Tried, number: int, of: Floats | None = None) -> tuple[Floats, dict[str, tuple[Any, ...]]]:
    """(values of one hyperparameter, seeds): scores, or another array of their shape, as means over the others.

    They are means over the values of the others that go without a failure as far as possible (`complete_block`), the
    same for all: a mean in which a run is missing is missing, as it would be one of other configurations.

    Returns:
        The means, and the values of each other hyperparameter that they are over.
    """
    table = tried.grid(of)
    kept = complete_block(np.isfinite(tried.grid()))
    over: dict[str, tuple[Any, ...]] = {}
    for axis, each in enumerate(tried.dimensions):
        if axis != number and kept[axis].size:
            table = table.take(kept[axis], axis)
            over[each.name] = tuple(each.values[index] for index in kept[axis].tolist())
    others = tuple(axis for axis in range(table.ndim - 1) if axis != number)
    return (table.mean(axis=others) if others else table), over


def designed(report: Report, metric: str) -> list[Tried]:
    """What the study's sensitivity study has tried, for each arm that it varies and each point of the grid."""
    sensitivity = report.study.sensitivity
    if sensitivity is None:
        return []
    found, sizes = [], _sizes(report, metric)
    for arm, point, own in _by_arm(report, "sensitivity", metric):
        dimensions = tuple(
            dimension(report, arm, point, path, axis.values, scale_of(axis.values, log=axis.log))
            for path, axis in axes_of(sensitivity, arm).items()
        )
        there = {one.trial: one for one in own}
        rows = [(_named(values), there.get(number)) for number, values in enumerate(design(sensitivity, arm))]
        found.append(_tried(arm, point, dimensions, rows, sizes, designed=True))
    return found


_NOT_BY_SCORES = ("grid", "random", "qmc")


def searched(report: Report) -> list[Tried]:
    """What the study's search has tried, by its objective.

    A full grid with two seeds or more is a design, if it was not chosen by scores; one hyperparameter is always a grid.
    Trials that were stopped within their training are left out: their scores are of fewer epochs.
    """
    if report.study.search is None:
        return []
    stopped = {(each.arm, point_key(each.point)): each.stopped for each in report.searches}
    found, sizes = [], _sizes(report, report.study.search.objective)
    for arm, point, tried_at_all in _by_arm(report, "search", report.study.search.objective):
        # A space of one value is no dimension; a default outside of its range may have been tried when that was done.
        spaces = {path: space for path, space in arm.searched.items() if space.size != 1}
        own = [
            one
            for one in tried_at_all
            if one.trial not in stopped.get((arm.name, point_key(point)), {})
            and all(space.contains(one.params[name_of(path)]) for path, space in spaces.items())
        ]
        if not spaces or not own:
            continue
        dimensions = tuple(
            dimension(report, arm, point, path, in_order({one.params[name_of(path)] for one in own}, scale), scale)
            for path, scale in ((path, scale_in(space)) for path, space in spaces.items())
        )
        names = [each.name for each in dimensions]
        rows = [({name: one.params[name] for name in names}, one) for one in own]
        tried = _tried(arm, point, dimensions, rows, sizes, designed=False)
        common = int(np.isfinite(tried.scores).all(axis=0).sum())
        whole = tried.is_grid and common > 1 and all(len(each.values) > 1 for each in dimensions)
        whole = whole and sampler_of(report.study.search, arm) in _NOT_BY_SCORES
        found.append(dataclasses.replace(tried, designed=True) if whole else tried)
    return found


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name instead of by path."""
    return {name_of(path): value for path, value in values.items()}


def _by_arm(report: Report, stage: str, metric: str) -> Iterator[tuple[Arm, Point, list[Aggregate]]]:
    """The arms and points that have something at that stage, in the order of the study."""
    groups: dict[tuple[str, str], list[Aggregate]] = {}
    for one in report.aggregates:
        if one.stage == stage and one.metric == metric:
            groups.setdefault(one.candidate.place, []).append(one)
    for arm in report.study.arms.values():
        for point in report.study.points():
            if own := groups.get((arm.name, point_key(point))):
                yield arm, point, own


def _tried(
    arm: Arm,
    point: Point,
    dimensions: tuple[Dimension, ...],
    rows: Sequence[tuple[Mapping[str, Any], Aggregate | None]],
    sizes: _Sizes,
    *,
    designed: bool,
) -> Tried:
    """Of configurations with what they gave; None: nothing yet."""
    seeds = tuple(sorted({seed for _, one in rows if one is not None for seed in one.seeds}))
    place = {seed: column for column, seed in enumerate(seeds)}
    scores, failed = (np.full((len(rows), len(seeds)), np.nan) for _ in range(2))
    too_large = 0
    for row, (_, one) in enumerate(rows):
        for seed, value in () if one is None else one.values.items():
            large = one is not None and sizes.too_large(one, seed)
            too_large += large
            scores[row, place[seed]] = np.nan if value is None or large else value
            failed[row, place[seed]] = value is None or large
        for seed in () if one is None else one.failed:
            failed[row, place[seed]] = 1
    return Tried(
        arm=arm.name,
        point=point,
        dimensions=dimensions,
        configurations=tuple(values for values, _ in rows),
        seeds=seeds,
        scores=scores,
        failed=failed,
        too_large=too_large,
        designed=designed,
        metric=sizes.metric,
    )


@dataclass(frozen=True, eq=False)
class _Sizes:
    """The mean sizes of the sets that an accuracy is of, by configuration and seed; none of top-k sets, which are k."""

    metric: str
    k: int
    of: Mapping[Candidate, Mapping[int, float | None]]

    def too_large(self, one: Aggregate, seed: int) -> bool:
        size = self.of.get(one.candidate, {}).get(seed)
        return size is not None and size > SATURATED * self.k


def _sizes(report: Report, metric: str) -> _Sizes:
    known = Metric.parse(metric)
    name = set_size(known.k, split=known.split).name if known.rule == "avg" and known.k else None
    of = {one.candidate: one.values for one in report.aggregates if one.metric == name}
    return _Sizes(metric, known.k or 1, of)


def common_seeds(tried: Tried) -> npt.NDArray[np.intp]:
    """The columns in which every configuration has a result; of a race those of its first rung."""
    return np.flatnonzero(np.isfinite(tried.failed).all(axis=0))
