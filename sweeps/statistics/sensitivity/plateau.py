"""The plateau: which values of a hyperparameter cannot be told from the best one, and how far they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import score_table
from setsweep.sweeps.statistics.sensitivity.scale import Extent, Scale
from setsweep.sweeps.statistics.sensitivity.two_way import fit_two_way


@dataclass(frozen=True, kw_only=True)
class Plateau:
    """The values that cannot be told from the best.

    Args:
        confidence: of the comparison.
        best: the value with the largest mean.
        members: for each value, in the order given, whether it cannot be told from the best.
        low, high: the ends of the unbroken stretch of members around the best, in the order of the scale.
        extent: how far that stretch goes.
        apart: members beyond the stretch, in the order of the scale.
        failing: values of which a run failed: they are never members, and break the stretch.
        edge: the end of the values tried at which the best lies, beyond which a better one may be; None: it lies
            between others, or the scale has no ends.
        default_inside, chosen_inside: whether the default and the value chosen lie within the stretch; None where they
            are not known or have no place on the scale.
    """

    confidence: float
    best: Any
    members: tuple[bool, ...]
    low: Any
    high: Any
    extent: Extent
    apart: tuple[Any, ...]
    failing: tuple[Any, ...]
    edge: Literal["low", "high"] | None
    default_inside: bool | None
    chosen_inside: bool | None

    def sentence(self, name: str) -> str:
        """What a user takes home, e.g. "alpha 0.8 to 10 can't be told from the best (95 %): 1.1 decades, ..."."""
        if self.low == self.high:
            stretch = f"{name} {_short(self.best)} is told from its neighbours ({self.confidence:.0%})"
        else:
            amount, unit = f"{self.extent.amount:.2g}", f" {self.extent.unit}" if self.extent.unit else ""
            unit = unit.removesuffix("s") if amount == "1" else unit
            stretch = (
                f"{name} {_short(self.low)} to {_short(self.high)} can't be told from the best "
                f"({self.confidence:.0%}): {amount}{unit}, {self.extent.share:.0%} of the range"
            )
        parts = [stretch.replace("%", " %")]
        for what, inside in (("default", self.default_inside), ("choice", self.chosen_inside)):
            parts += [] if inside is None else [f"{what} {'inside' if inside else 'outside'}"]
        parts += [f"nor can {', '.join(map(_short, self.apart))}, apart from it"] if self.apart else []
        parts += [f"the best is the {self.edge}est value tried: better ones may lie beyond"] if self.edge else []
        return "; ".join(parts)


def plateau(
    values: Sequence[Any],
    scores: npt.ArrayLike,
    scale: Scale,
    *,
    confidence: float,
    failures: Sequence[int] = (),
    default: Any = None,
    chosen: Any = None,
    examples: int | None = None,
) -> Plateau:
    """The values g with m_best - m_g <= q s / sqrt(n), m being mean logits in the two-way model (`two_way`).

    q is the quantile of the studentised range of G means on (G - 1)(n - 1) degrees of freedom, so that with the
    confidence no two values with equal mu differ by more. Hence the plateau holds *all* values that are truly as good
    as the best with at least the confidence, whichever looks best; and any one of them, the best itself among
    them, with more (for G = 9 and 95 %: above 99 %). It does not say that its members are equally good: with few seeds
    it is wide.

    A value of which a run failed takes no part, as its mean is of the runs that went well. Values outside the
    complete part of the table (`complete_block`) are no members either.

    Args:
        values: (G,) on the scale, in any order.
        scores: (values, seeds) accuracies between 0 and 1; NaN where a run has none.
        scale: the declared one, which the extent is a share of.
        confidence: between 0 and 1.
        failures: (G,) how many runs of each value failed; empty: none did.
        default, chosen: the value where nothing is said, and the one that is used; None: not known.
        examples: how many examples an accuracy counts, see `logits`.

    Raises:
        ValueError: what `fit_two_way` refuses, or values that do not match the scores or the scale.
    """
    table = score_table(scores, axes=2)
    failed = np.array([count > 0 for count in failures] or [False] * len(values))
    if not len(values) == len(table) == len(failed):
        got = f"{len(table)} rows of scores and {len(failed)} numbers of failures"
        raise ValueError(f"there must be one row of scores and one number of failures for each value, got {got}.")
    members, best = cannot_be_told(np.where(failed[:, None], np.nan, table), confidence=confidence, examples=examples)
    order = np.argsort(scale.positions(values), kind="stable").tolist()
    tried = [index for index in order if failed[index] or np.isfinite(table[index]).any()]
    low, high = _stretch(tried, members, best)
    inside = tried[tried.index(low) : tried.index(high) + 1]
    return Plateau(
        confidence=confidence,
        best=values[best],
        members=members,
        low=values[low],
        high=values[high],
        extent=scale.extent(values[low], values[high]),
        apart=tuple(values[index] for index in tried if members[index] and index not in inside),
        failing=tuple(values[index] for index in tried if failed[index]),
        edge=None if not scale.has_ends else "low" if best == tried[0] else "high" if best == tried[-1] else None,
        default_inside=_is_inside(scale, default, values[low], values[high]),
        chosen_inside=_is_inside(scale, chosen, values[low], values[high]),
    )


def cannot_be_told(
    scores: npt.ArrayLike, *, confidence: float, examples: int | None = None
) -> tuple[tuple[bool, ...], int]:
    """For each row of scores whether it cannot be told from the best one, and the index of the best.

    The rows may be the values of one hyperparameter or the combinations of two. See `plateau`.

    Raises:
        ValueError: what `fit_two_way` refuses.
    """
    table = score_table(scores, axes=2)
    model = fit_two_way(table, examples=examples)
    near = model.means >= model.means.max() - model.honest_difference(confidence)
    members = set(model.values[near].tolist())
    return tuple(index in members for index in range(len(table))), int(model.values[model.means.argmax()])


def _stretch(tried: list[int], members: tuple[bool, ...], best: int) -> tuple[int, int]:
    """The first and the last of the members that stand beside the best without a gap."""
    low = high = tried.index(best)
    while low > 0 and members[tried[low - 1]]:
        low -= 1
    while high < len(tried) - 1 and members[tried[high + 1]]:
        high += 1
    return tried[low], tried[high]


def _is_inside(scale: Scale, value: Any, low: Any, high: Any) -> bool | None:
    if value is None:
        return None
    try:
        return scale.position(low) <= scale.position(value) <= scale.position(high)
    except ValueError:
        return None


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
