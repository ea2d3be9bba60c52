"""Several objectives: which trials none beats in all of them, and which few of those stand for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Point = tuple[float, ...]

_BEYOND = 0.1  # how far beyond the worst of the front the volume is measured, of the front's extent


def front(values: Mapping[int, Sequence[float]]) -> list[int]:
    """The trials that no other one beats, ascending; of equal ones the first. More is better in every objective."""
    found = []
    for number, own in sorted(values.items()):
        others = ((other, each) for other, each in values.items() if other != number)
        if not any(_beats(each, own) or (tuple(each) == tuple(own) and other < number) for other, each in others):
            found.append(number)
    return found


def members(values: Mapping[int, Sequence[float]], most: int, *, kept: int | None = None) -> list[int]:
    """At most so many of the front, ascending: whose leaving would cost the least volume leaves first.

    The volume is what the front dominates, each objective scaled to its extent on the front; of equals the later
    leaves (Emmerich, Beume and Naujoks 2005). `kept` never leaves.
    """
    left = front(values)
    scaled = _scaled({number: tuple(values[number]) for number in left})
    while len(left) > most:
        whole = volume([scaled[number] for number in left])
        others = [number for number in left if number != kept]
        lost = {one: whole - volume([scaled[other] for other in left if other != one]) for one in others}
        left.remove(min(others, key=lambda number: (lost[number], -number)))
    return left


def volume(points: Sequence[Point]) -> float:
    """The volume between the origin and the points, none of whose coordinates is negative, in any dimension."""
    if not points:
        return 0.0
    if len(points[0]) == 1:
        return max(point[0] for point in points)
    total, above = 0.0, sorted(points, key=lambda point: point[-1], reverse=True)
    for index, point in enumerate(above):
        below = above[index + 1][-1] if index + 1 < len(above) else 0.0
        total += (point[-1] - below) * volume([each[:-1] for each in above[: index + 1]])
    return total


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    at_least = all(a >= b for a, b in zip(one, other, strict=True))
    return at_least and any(a > b for a, b in zip(one, other, strict=True))


def _scaled(values: Mapping[int, Point]) -> dict[int, Point]:
    columns = list(zip(*values.values(), strict=True))
    worst, extent = [min(column) for column in columns], [(max(column) - min(column)) or 1.0 for column in columns]
    return {
        number: tuple((v - low) / wide + _BEYOND for v, low, wide in zip(own, worst, extent, strict=True))
        for number, own in values.items()
    }
