"""Where values of a hyperparameter lie on the scale that it is declared on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from setsweep.losses.values import as_number, unknown
from setsweep.sweeps.statistics.sensitivity.block import Floats

ScaleKind = Literal["linear", "log", "symlog", "order"]


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How far a stretch of a scale goes.

    Args:
        share: of the declared range, 0 to 1; on an order, of its values.
        amount: in `unit`.
        unit: "decades" on a log scale, "values" on an order, "" (the hyperparameter's own) on a linear scale and where
            a symlog stretch begins at 0, from where no decade can be counted.
    """

    share: float
    amount: float
    unit: Literal["decades", "values", ""]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A declared range and the positions of values in it: its low end is at 0, its high end at 1.

    Args:
        kind: "linear" is proportional to the value, "log" to its logarithm. "symlog" is "log" from `threshold` on and
            linear below it, where 0 lies one decade below the threshold. "order" has its values at equal distances.
        low, high: ends of the range; not of an order.
        threshold: of a symlog scale: its least value beside 0.
        values: of an order.

    Raises:
        ValueError: ends that are no range on such a scale.
    """

    kind: ScaleKind
    low: float = 0.0
    high: float = 1.0
    threshold: float = 0.0
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "order":
            if len({repr(value) for value in self.values}) < max(2, len(self.values)):
                raise ValueError(f"an order must have 2 or more distinct values, got {list(self.values)}.")
            return
        if not self.low < self.high:
            raise ValueError(f"a scale must have low < high, got [{self.low}, {self.high}].")
        if self.kind == "log" and self.low <= 0:
            raise ValueError(f"a log scale must have low > 0, got {self.low}.")
        if self.kind == "symlog" and not (self.low >= 0 and 0 < self.threshold <= self.high):
            ends = f"low = {self.low}, threshold = {self.threshold}, high = {self.high}"
            raise ValueError(f"a symlog scale must have low >= 0 and 0 < threshold <= high, got {ends}.")

    @property
    def has_ends(self) -> bool:
        """Whether there is something beyond the first and the last value: not of an order of names."""
        return self.kind != "order" or all(_number(value) is not None for value in self.values)

    def position(self, value: Any) -> float:
        """Where the value lies: 0 at the low end, 1 at the high end, below or above outside the range.

        Raises:
            ValueError: a value that has no place on the scale.
        """
        if self.kind == "order":
            return self._rank(value) / (len(self.values) - 1)
        low, high = self._warp(self.low), self._warp(self.high)
        return (self._warp(value) - low) / (high - low)

    def positions(self, values: Sequence[Any]) -> Floats:
        """The position of each value, (values,)."""
        return np.array([self.position(value) for value in values], dtype=np.float64)

    def extent(self, low: Any, high: Any) -> Extent:
        """How far it is from one value of the scale to a higher one."""
        if self.kind == "order":
            count = self._rank(high) - self._rank(low) + 1
            return Extent(share=count / len(self.values), amount=count, unit="values")
        share = self.position(high) - self.position(low)
        if self.kind == "linear" or low <= 0:
            return Extent(share=share, amount=high - low, unit="")
        return Extent(share=share, amount=math.log10(high / low), unit="decades")

    def _warp(self, value: Any) -> float:
        number = _number(value)
        if number is None or (self.kind == "log" and number <= 0) or (self.kind == "symlog" and number < 0):
            least = {"linear": "", "log": " > 0", "symlog": " >= 0"}[self.kind]
            raise ValueError(f"a value on a {self.kind} scale must be a number{least}, got {value!r}.")
        if self.kind == "linear":
            return number
        if self.kind == "log":
            return math.log10(number)
        return number / self.threshold if number < self.threshold else 1 + math.log10(number / self.threshold)

    def _rank(self, value: Any) -> int:
        if value not in self.values:
            raise ValueError(unknown("value of the order", str(value), map(str, self.values)))
        return self.values.index(value)


def scale_of(values: Sequence[Any], *, log: bool = False) -> Scale:
    """The scale that a list of tried values spans: symlog where 0 is among logarithmic ones, an order of names.

    Args:
        values: two or more; numbers in any order, or names in theirs.
        log: whether numbers stand on a logarithmic scale.

    Raises:
        ValueError: fewer than two distinct values, or negative ones among logarithmic ones.
    """
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or not known:
        return Scale(kind="order", values=tuple(values))
    low, high = min(known), max(known)
    if not log:
        return Scale(kind="linear", low=low, high=high)
    if low == 0 and high > 0:
        return Scale(kind="symlog", low=low, high=high, threshold=min(number for number in known if number > 0))
    return Scale(kind="log", low=low, high=high)


def _number(value: Any) -> float | None:
    number = None if isinstance(value, str) else as_number(value)
    return None if number is None else float(number)
