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

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.scale import Scale, scale_of
from setsweep.sweeps.study.addresses import point_for, setting_of
from setsweep.sweeps.study.design import axes_of, design
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Point, Study, point_key


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """One hyperparameter that was varied.

    Args:
        name: as parameters have it: "alpha", "training.batch_size".
        values: tried, in the order of the scale; of a search those that its trials had.
        scale: the declared one.
        default: where nothing is said; None: not known.
        chosen: by the search; None: nothing was searched.
    """

    name: str
    values: tuple[Any, ...]
    scale: Scale
    default: Any
    chosen: Any


@dataclass(frozen=True, kw_only=True, eq=False)
class Tried:
    """Configurations of an arm at a point, and their scores.

    Args:
        arm, point: whose.
        dimensions: what was varied.
        configurations: the values of each, by name.
        seeds: of the columns.
        scores: (configurations, seeds); NaN without a number.
        failed: (configurations, seeds): 1 where the run diverged or failed, 0 where it did not, NaN: no result yet.
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


def designed(report: Report, metric: str) -> list[Tried]:
    """What the study's sensitivity study has tried, for each arm that it varies and each point of the grid."""
    sensitivity = report.study.sensitivity
    if sensitivity is None:
        return []
    found = []
    for arm, point, own in _by_arm(report, "sensitivity", metric):
        axes = axes_of(sensitivity, arm)
        dimensions = tuple(
            Dimension(
                name=path.removeprefix("loss."),
                values=axis.values,
                scale=scale_of(axis.values, log=axis.log),
                default=_default(report.study, arm, point, path),
                chosen=_chosen(report, arm, point, path),
            )
            for path, axis in axes.items()
        )
        there = {one.trial: one for one in own}
        rows = [(_named(values), there.get(number)) for number, values in enumerate(design(sensitivity, arm))]
        found.append(_tried(arm, point, dimensions, rows, metric, designed=True))
    return found


def searched(report: Report) -> list[Tried]:
    """What the study's search has tried, by its objective; a full grid with two seeds or more is a design."""
    if report.study.search is None:
        return []
    found = []
    for arm, point, own in _by_arm(report, "search", report.study.search.objective):
        dimensions = tuple(
            Dimension(
                name=path.removeprefix("loss."),
                values=_in_order({one.params[path.removeprefix("loss.")] for one in own}),
                scale=_scale(space),
                default=_default(report.study, arm, point, path),
                chosen=_chosen(report, arm, point, path),
            )
            for path, space in arm.searched.items()
        )
        names = [each.name for each in dimensions]
        rows = [({name: one.params[name] for name in names}, one) for one in own]
        tried = _tried(arm, point, dimensions, rows, report.study.search.objective, designed=False)
        common = int(np.isfinite(tried.scores).all(axis=0).sum())
        whole = tried.is_grid and common > 1 and all(len(each.values) > 1 for each in dimensions)
        found.append(dataclasses.replace(tried, designed=True) if whole else tried)
    return found


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name instead of by path."""
    return {path.removeprefix("loss."): value for path, value in values.items()}


def _by_arm(report: Report, stage: str, metric: str) -> Iterator[tuple[Arm, Point, list[Aggregate]]]:
    """The arms and points that have something at that stage, in the order of the study."""
    groups: dict[tuple[str, str], list[Aggregate]] = {}
    for one in report.aggregates:
        if one.stage == stage and one.metric == metric:
            groups.setdefault((one.arm, point_key(one.point)), []).append(one)
    for arm in report.study.arms.values():
        for point in report.study.points():
            if own := groups.get((arm.name, point_key(point))):
                yield arm, point, own


def _tried(
    arm: Arm,
    point: Point,
    dimensions: tuple[Dimension, ...],
    rows: Sequence[tuple[Mapping[str, Any], Aggregate | None]],
    metric: str,
    *,
    designed: bool,
) -> Tried:
    """Of configurations with what they gave; None: nothing yet."""
    seeds = tuple(sorted({seed for _, one in rows if one is not None for seed in one.seeds}))
    place = {seed: column for column, seed in enumerate(seeds)}
    scores, failed = (np.full((len(rows), len(seeds)), np.nan) for _ in range(2))
    for row, (_, one) in enumerate(rows):
        for seed, value in () if one is None else one.values.items():
            scores[row, place[seed]] = np.nan if value is None else value
            failed[row, place[seed]] = value is None
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
        designed=designed,
        metric=metric,
    )


def _default(study: Study, arm: Arm, point: Point, path: str) -> Any:
    """The value of the arm where nothing is varied."""
    said = {**arm.fixed, **point_for(point, arm), **arm.default}
    if path in said:
        return said[path]
    if path.startswith("training."):
        value: Any = study.training
        for name in path.removeprefix("training.").split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return setting_of(path, arm).default if value is None else value
    return setting_of(path, arm).default


def _chosen(report: Report, arm: Arm, point: Point, path: str) -> Any:
    """What the search has chosen; None where the arm does not search it, or has not chosen yet."""
    if path not in arm.searched:
        return None
    choices = (each for each in report.chosen if each.arm == arm.name and each.point == point)
    return next((each.params.get(path.removeprefix("loss.")) for each in choices), None)


def _scale(space: Space) -> Scale:
    if space.low is None or space.high is None:
        return Scale(kind="order", values=space.choices) if len(space.choices) > 1 else scale_of(space.choices)
    kind = "log" if space.kind.startswith("log") else "linear"
    return Scale(kind="log" if kind == "log" else "linear", low=space.low, high=space.high)


def _in_order(values: set[Any]) -> tuple[Any, ...]:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return tuple(sorted(values) if numbers else sorted(values, key=str))


def common_seeds(tried: Tried) -> npt.NDArray[np.intp]:
    """The columns in which every configuration has a result; of a race those of its first rung."""
    return np.flatnonzero(np.isfinite(tried.failed).all(axis=0))
