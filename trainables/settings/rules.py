"""Rules for single values: each takes what a file holds and gives it back in its own type, or says the rule it breaks.

A rule's message has no subject ("must be >= 1, got 0."); whoever applies it puts the field in front.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from setsweep.trainables.settings.problems import nearest


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    Args:
        type: "whole" and "real" numbers can be searched over a range, "other" values only by choice.
        check: gives the value in its own type.
            Raises ValueError: the rule and the value, without a subject.
    """

    type: Literal["whole", "real", "other"]
    check: Callable[[Any], Any]


def whole(low: int, *, high: int | None = None, high_name: str = "", besides: tuple[str | None, ...] = ()) -> Rule:
    """A whole number from `low` to `high`, which messages may call by a name; `besides` ("full", None) is legal too."""
    named = f"{high_name} = {high}" if high_name else high
    bounds = f">= {low}" if high is None else f"between {low} and {named}"
    more = "".join(f" or {'null' if value is None else value}" for value in besides)

    def check(value: Any) -> int | str | None:
        if any(value == other and type(value) is type(other) for other in besides):
            return value  # type: ignore[no-any-return]  # one of `besides` by the line above
        if not is_number(value) or value != math.floor(value):
            raise ValueError(f"must be a whole number{more}, got {value!r}.")
        if value < low or (high is not None and value > high):
            raise ValueError(f"must be {bounds}{more}, got {value!r}.")
        return int(value)

    return Rule("whole", check)


def real(
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    besides: tuple[None, ...] = (),
) -> Rule:
    """A finite number within the bounds given: >= `low`, > `above`, <= `high`, < `below`; or one of `besides`."""
    ends = ((">=", operator.ge, low), (">", operator.gt, above), ("<=", operator.le, high), ("<", operator.lt, below))
    bounds = [(sign, holds, end) for sign, holds, end in ends if end is not None]
    words = " and ".join(f"{sign} {end:g}" for sign, _, end in bounds)
    more = " or null" if besides else ""

    def check(value: Any) -> float | None:
        if value is None and besides:
            return None
        if not is_number(value):
            raise ValueError(f"must be a number{more}, got {value!r}.")
        if not all(holds(value, end) for _, holds, end in bounds):
            raise ValueError(f"must be {words}{more}, got {value!r}.")
        return float(value)

    return Rule("real", check)


def one_of(*names: str | None) -> Rule:
    """One of a few names; None stands for "not given"."""
    words = ", ".join("null" if name is None else name for name in names)

    def check(value: Any) -> str | None:
        if not (value is None or isinstance(value, str)) or value not in names:
            raise ValueError(f"must be one of {words}, got {value!r}.{nearest(value, filter(None, names))}")
        return value

    return Rule("other", check)


def flag() -> Rule:
    """True or false."""

    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, got {value!r}.")  # noqa: TRY004  # what a user wrote
        return value

    return Rule("other", check)


def text() -> Rule:
    """Any text."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be text, got {value!r}.")  # noqa: TRY004  # what a user wrote
        return value

    return Rule("other", check)


def listed(item: Rule, *, length: int | None = None, ascending: bool = False) -> Rule:
    """A list whose items keep a rule of their own, as a tuple; `ascending` lists hold no value twice."""
    words = "a list" if length is None else f"a list of {length}"

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or (length is not None and len(value) != length):
            raise ValueError(f"must be {words}, got {value!r}.")
        items = tuple(item.check(each) for each in value)
        if ascending and any(after <= before for before, after in itertools.pairwise(items)):
            raise ValueError(f"must be ascending, got {list(value)!r}.")
        return items

    return Rule("other", check)


def is_number(value: object) -> bool:
    """Whether the value is a number that a float can hold; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
