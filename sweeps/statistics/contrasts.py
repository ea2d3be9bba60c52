"""Which differences a study asks for, whatever has come out: the family that p-values are corrected for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from setsweep.sweeps.study.design.addresses import point_for
from setsweep.sweeps.study.study import Point, Study, point_key
from setsweep.trainables.evaluation.metric import Metric

Place = tuple[str, str, str]  # arm, baseline, point


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """One difference that is asked for.

    Args:
        arm: what the baseline is taken from.
        baseline: the other arm.
        point: of the grid.
        metric: the test metric.
        primary: whether it is the one that is tested first there.
    """

    arm: str
    baseline: str
    point: Point
    metric: str
    primary: bool

    @property
    def place(self) -> Place:
        """What several metrics are tested of; can be a key."""
        return self.arm, self.baseline, point_key(self.point)


def contrasts(study: Study) -> list[Contrast]:
    """Every arm against the baseline, then the further pairs, at every point and on every metric compared."""
    return [
        Contrast(arm=arm, baseline=baseline, point=point, metric=metric, primary=primary)
        for arm, baseline in _pairs(study)
        for point in study.points()
        for metric, primary in _metrics(study, arm, baseline, point)
    ]


def _pairs(study: Study) -> list[tuple[str, str]]:
    baseline = study.compare.baseline
    pairs = [] if baseline is None else [(arm, baseline) for arm in study.arms if arm != baseline]
    return [*pairs, *(pair for pair in study.compare.pairs if pair not in pairs)]


def _metrics(study: Study, arm: str, baseline: str, point: Point) -> list[tuple[str, bool]]:
    """The metrics of two arms, each with whether it is the primary; the primary comes first."""
    primary, metrics = study.primary, study.compared
    if (k := _own_k(study, arm, baseline, point)) is not None:
        primary = replace(Metric.parse(primary), k=k).name
        metrics = tuple(metric for metric in metrics if Metric.parse(metric).k == k)
    return [(primary, True), *((metric, False) for metric in metrics if metric != primary)]


def _own_k(study: Study, arm: str, baseline: str, point: Point) -> int | None:
    """The set size that two arms are compared at; None: all of the study's, also where the two have different ones."""
    if study.compare.k == "all":
        return None
    arms = [study.arms[name] for name in (arm, baseline)]
    own = {{**each.fixed, **point_for(point, each)}.get("loss.k") for each in arms} - {None}
    return own.pop() if len(own) == 1 else None
