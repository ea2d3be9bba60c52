"""What a study has found, beside what was published of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.methods.student import t_quantile
from setsweep.sweeps.study.published import Published
from setsweep.sweeps.study.study import Study, point_key


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A published number and ours; in record units, and None where ours is not there yet.

    Args:
        published: what it is held against.
        mean, ci_low, ci_high, n: of the confirmation of its arm at its point.
        difference: ours minus the published.
        inside: whether the difference is no more than the half-widths of both intervals, added in quadrature; the
            published number counts as exact where its paper gives nothing that makes an interval.
    """

    published: Published
    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    difference: float | None = None
    inside: bool | None = None


def beside_published(study: Study, aggregates: Sequence[Aggregate]) -> list[Beside]:
    """A row for each published number of the study, in its order."""
    ours = {(a.arm, point_key(a.point), a.metric): a for a in aggregates if a.stage == "confirm"}
    return [_beside(each, ours.get((each.arm, point_key(each.point), each.metric))) for each in study.published]


def by_place(rows: Iterable[Beside]) -> dict[str, list[Beside]]:
    """The rows of each table or figure of a paper, in their order."""
    found: dict[str, list[Beside]] = {}
    for each in rows:
        found.setdefault(each.published.where, []).append(each)
    return found


def _beside(published: Published, ours: Aggregate | None) -> Beside:
    if ours is None or ours.mean is None:
        return Beside(published=published)
    low, high = ours.ci_low, ours.ci_high
    return Beside(
        published=published,
        mean=ours.mean,
        ci_low=low,
        ci_high=high,
        n=ours.n,
        difference=ours.mean - published.mean,
        inside=None if low is None or high is None else _is_inside(ours.mean, (high - low) / 2, published),
    )


def _is_inside(mean: float, half_width: float, published: Published) -> bool:
    # Compared with some room for rounding: a number that lies at the end is inside.
    return abs(mean - published.mean) <= math.hypot(half_width, _half_width(published)) * (1 + 1e-9)


def _half_width(published: Published) -> float:
    """Of the published mean's 95 % interval; 0 where there is none."""
    if published.spread is None or published.kind == "ci":
        return published.spread or 0.0
    n = published.seeds or 1
    return t_quantile(0.975, n - 1) * published.spread / math.sqrt(n) if n > 1 else 0.0
