"""How the study's own metric depends on a hyperparameter: curves of the study's own run.

A step is the place of the hyperparameter's value among those that were asked for. The values are a metric themselves,
which a chart can have as its x axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from setsweep.sweeps.records.mlflow_pages.metrics import BAND
from setsweep.sweeps.records.mlflow_pages.texts import own_metric
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.design.axes import is_logarithmic
from setsweep.sweeps.study.design.layout import axes_of
from setsweep.sweeps.study.study import Stage, Study

FEWEST = 3  # values that make a curve

Curve = list[tuple[int, float]]  # steps and values


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """A hyperparameter, or another number, that a study varies.

    Args:
        path: as the study has it.
        values: numbers, ascending.
        stage: whose aggregates have them.
        names: by arm, the name that an aggregate has the value by: in its point, or in its params.
    """

    path: str
    values: tuple[float, ...]
    stage: Stage
    names: Mapping[str, str]

    @property
    def label(self) -> str:
        """The last part of its path."""
        return self.path.rpartition(".")[2]

    @property
    def is_log(self) -> bool:
        """Whether the values stand evenly on a logarithmic scale."""
        return is_logarithmic(self.values)

    @property
    def x(self) -> str:
        """The name of the metric that has the values."""
        return f"by {self.label}/{self.label}"

    def curve(self, arm: str, part: str) -> str:
        """The name of an arm's mean, ci_low or ci_high."""
        return f"by {self.label}/{arm}/{part}"

    def value(self, one: Aggregate) -> Any:
        """That of an aggregate; None: it has none."""
        name = self.names.get(one.arm)
        return one.params.get(name, one.point.get(name)) if name is not None and one.stage == self.stage else None


def dimensions(study: Study) -> list[Dimension]:
    """What a study varies in three numbers or more: over its grid, or in its sensitivity study."""
    found = [
        Dimension(path=path, values=tuple(values), stage="confirm", names=dict.fromkeys(study.arms, path))
        for path, values in study.grid.items()
    ]
    for axis in study.sensitivity.axes if study.sensitivity else ():
        names = {
            name: path.removeprefix("loss.")
            for name, arm in study.arms.items()
            for path, own in axes_of(study.sensitivity, arm).items()  # type: ignore[arg-type]  # there is an axis
            if own is axis
        }
        found.append(Dimension(path=axis.path, values=axis.values, stage="sensitivity", names=names))
    return [
        Dimension(path=each.path, values=tuple(sorted(each.values)), stage=each.stage, names=each.names)
        for each in found
        if len(each.values) >= FEWEST and all(type(value) in (int, float) for value in each.values)
    ]


def curves(report: Report) -> dict[str, Curve]:
    """Metrics of the study's own run; where other things vary too, the means over them, without an interval."""
    found: dict[str, Curve] = {}
    for dimension in dimensions(report.study):
        found[dimension.x] = [*enumerate(map(float, dimension.values))]
        for arm in dimension.names:
            for step, value in enumerate(dimension.values):
                for part, number in _numbers(report, dimension, arm, value):
                    found.setdefault(dimension.curve(arm, part), []).append((step, number))
    return found


def _numbers(report: Report, dimension: Dimension, arm: str, value: float) -> Iterator[tuple[str, float]]:
    """Mean and interval of an arm where the dimension has a value."""
    metric = own_metric(report.study, "confirm")
    own = [one for one in report.aggregates if one.arm == arm and one.metric == metric and one.mean is not None]
    at = [one for one in own if dimension.value(one) == value]
    if len(at) == 1:
        ends = ((part, getattr(at[0], part)) for part in BAND)
        yield from ((part, end) for part, end in ends if end is not None)
    elif at:
        yield "mean", fmean(one.mean for one in at if one.mean is not None)
