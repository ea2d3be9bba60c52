"""Search spaces of single values, as a study file spells them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from setsweep.trainables.settings.problems import unknown
from setsweep.trainables.settings.rules import is_number

Kind = Literal["uniform", "log_uniform", "int", "log_int", "choice"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, kw_only=True)
class Space:
    """One searched value.

    Args:
        kind: "uniform" and "log_uniform" draw floats, "int" and "log_int" whole numbers, "choice" one of `choices`.
        low, high: the ends, both included; None for a choice.
        choices: the candidates of a choice.
        default: the value of the default configuration, which is always among the candidates.
    """

    kind: Kind
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()
    default: Any = None

    def contains(self, value: Any) -> bool:
        """Whether the search could draw the value."""
        if self.low is None or self.high is None:
            return value in self.choices
        return is_number(value) and self.low <= value <= self.high and (self.size is None or value == int(value))

    @property
    def size(self) -> int | None:
        """How many values there are; None for a continuous range."""
        if self.low is None or self.high is None:
            return len(self.choices)
        return int(self.high) - int(self.low) + 1 if self.kind in ("int", "log_int") else None

    def values(self) -> tuple[Any, ...]:
        """Every value of a finite space, in order."""
        if self.low is None or self.high is None:
            return self.choices
        assert self.size is not None, f"{self.kind} has no list of values"
        return tuple(range(int(self.low), int(self.high) + 1))

    def middle(self) -> Any:
        """The middle of the range, geometric on a log scale; the first of a choice."""
        if self.low is None or self.high is None:
            return self.choices[0]
        middle = math.sqrt(self.low * self.high) if self.kind.startswith("log") else (self.low + self.high) / 2
        return middle if self.size is None else round(middle)


@dataclass(frozen=True, kw_only=True)
class Searchable:
    """What a value must be if it is to be searched.

    Args:
        type: "whole" numbers are not drawn from continuous ranges, "other" values only by choice.
        check: gives a value in its own type; raises ValueError with a rule that has no subject.
        default: of the value.
        own_range: what ``default_space`` stands for, spelled as in a study file; None: there is none.
        default_in_range: whether the default is replaced by the range's middle where it lies outside.
    """

    type: Literal["whole", "real", "other"]
    check: Callable[[Any], Any]
    default: Any
    own_range: Mapping[str, Any] | None = None
    default_in_range: bool = False


def is_space(value: object) -> bool:
    """Whether a value of a study file asks for a search."""
    return isinstance(value, Mapping) or value == "default_space"


def read_space(value: Any, of: Searchable) -> Space:
    """The search space that a study file spells as ``{log_uniform: [0.1, 10]}`` or ``default_space``.

    Raises:
        ValueError: the rule that the spelling breaks, without a subject.
    """
    if value == "default_space":
        if of.own_range is None:
            raise ValueError("must be given its range, as it has none of its own, got 'default_space'.")
        value = of.own_range
    spelled = {key: inner for key, inner in value.items() if key != "default"}
    strangers = [key for key in spelled if key not in KINDS]
    if strangers:
        raise ValueError(unknown("search space", strangers[0], [*KINDS, "default"]))
    if len(spelled) != 1:
        raise ValueError(f"must name one of {', '.join(KINDS)}, got {dict(value)!r}.")
    [(kind, given)] = spelled.items()
    space = _choice(given, of) if kind == "choice" else _range(kind, given, of)
    return _with_default(space, value, of)


def _choice(given: Any, of: Searchable) -> Space:
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"must be a choice of one value or more, got {given!r}.")
    if any(isinstance(each, list | tuple) for each in given):
        raise ValueError(f"must be a choice of single values, got {list(given)!r}.")
    choices = tuple(of.check(each) for each in given)
    if len({repr(each) for each in choices}) < len(choices):
        raise ValueError(f"must be a choice of distinct values, got {list(given)!r}.")
    return Space(kind="choice", choices=choices)


def _range(kind: Kind, given: Any, of: Searchable) -> Space:
    if of.type == "other":
        raise ValueError(f"must be searched by choice, got {kind!r}.")
    if of.type == "whole" and kind in ("uniform", "log_uniform"):
        raise ValueError(f"must be searched by int, log_int or choice, as it is a whole number, got {kind!r}.")
    if not isinstance(given, list | tuple) or len(given) != 2 or not all(map(is_number, given)):
        raise ValueError(f"must be searched between two numbers [low, high], got {given!r}.")
    if kind in ("int", "log_int") and any(end != math.floor(end) for end in given):
        raise ValueError(f"must be searched between whole numbers, got {list(given)!r}.")
    low, high = given
    if low >= high:
        raise ValueError(f"must be searched with low < high, got {list(given)!r}.")
    if kind.startswith("log") and low <= 0:
        raise ValueError(f"must be searched with low > 0 on a log scale, got {list(given)!r}.")
    return Space(kind=kind, low=of.check(low), high=of.check(high))


def _with_default(space: Space, value: Mapping[str, Any], of: Searchable) -> Space:
    if "default" in value:
        default = of.check(value["default"])
    elif of.default_in_range and not space.contains(of.default):
        default = of.check(space.middle())
    else:
        default = of.default
    return Space(kind=space.kind, low=space.low, high=space.high, choices=space.choices, default=default)
