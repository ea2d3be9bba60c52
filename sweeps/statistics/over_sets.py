"""Differences over several data sets of one study: a set counts once, seeds are never pooled over sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.contrasts import Contrast, contrasts
from setsweep.sweeps.statistics.methods.corrections import corrected
from setsweep.sweeps.statistics.methods.intervals import PairedDifference
from setsweep.sweeps.statistics.methods.several_sets import Combined, combined
from setsweep.sweeps.statistics.methods.student import is_below_level
from setsweep.sweeps.study.design.configuration import DATA_NAME
from setsweep.sweeps.study.study import Point, Study, point_key

Key = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class OverSets:
    """One contrast of the primary metric over all data sets, at one point of the rest of the grid.

    Args:
        arm, baseline: the arm, and what is taken from it.
        point: without the data set.
        metric: the primary.
        found: the difference over sets, its interval and p.
        p_corrected: corrected over all contrasts over sets that the study asks for; None where p is.
        significant: whether it is below 1 - confidence.
    """

    arm: str
    baseline: str
    point: Point
    metric: str
    found: Combined
    p_corrected: float | None
    significant: bool


def over_sets(comparisons: Sequence[Comparison], study: Study) -> list[OverSets]:
    """The contrasts that have a difference on every data set of the grid; none where there is one set alone."""
    sets = len(study.grid.get(DATA_NAME, ()))
    if sets < 2:
        return []
    family = {_key(contrast) for contrast in contrasts(study) if contrast.primary}
    groups: dict[Key, list[Comparison]] = {}
    for each in comparisons:
        if each.role == "primary" and each.difference is not None:
            groups.setdefault(_key(each), []).append(each)
    whole = [members for members in groups.values() if len(members) == sets]
    found = [combined([_difference(each) for each in own], confidence=study.compare.confidence) for own in whole]
    p_values = corrected([each.p for each in found], study.compare.correction, family=len(family))
    return [
        OverSets(
            arm=own[0].arm,
            baseline=own[0].baseline,
            point=_rest(own[0].point),
            metric=own[0].metric,
            found=each,
            p_corrected=p,
            significant=is_below_level(p, study.compare.confidence),
        )
        for own, each, p in zip(whole, found, p_values, strict=True)
    ]


def _key(of: Contrast | Comparison) -> Key:
    return of.arm, of.baseline, point_key(_rest(of.point))


def _rest(point: Point) -> Point:
    return {path: value for path, value in point.items() if path != DATA_NAME}


def _difference(of: Comparison) -> PairedDifference:
    return PairedDifference(difference=of.difference, ci_low=of.ci_low, ci_high=of.ci_high, p=of.p, n=of.n, std=of.std)
