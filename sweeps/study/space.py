"""Search spaces of single values, as a study file spells them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from setsweep.losses.values import as_number, unknown
from setsweep.trainables.settings.setting import Setting

Kind = Literal["uniform", "log_uniform", "int", "log_int", "choice"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KINDS_OF_TYPE: Mapping[str, tuple[Kind, ...]] = {
    "real": KINDS,
    "whole": ("int", "log_int", "choice"),
    "other": ("choice",),
    "any": KINDS,
}
"""How a value can be searched, by the type of its rule."""


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
        number = None if isinstance(value, str) else as_number(value)
        if number is None or not self.low <= number <= self.high:
            return False
        return self.size is None or number == int(number)

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


def is_space(value: object) -> bool:
    """Whether a value of a study file asks for a search."""
    return isinstance(value, Mapping) or value == "default_space"


def read_space(value: Any, setting: Setting, *, default: Any, default_in_range: bool = False) -> Space:
    """The search space that a study file spells as ``{log_uniform: [0.1, 10]}`` or ``default_space``.

    Args:
        value: as the file has it.
        setting: what is searched.
        default: the value of the default configuration, unless the space says another.
        default_in_range: whether the default is replaced by the range's middle where it lies outside.

    Raises:
        ValueError: the rule that the spelling breaks, without a subject.
    """
    if value == "default_space":
        if setting.search is None:
            raise ValueError("must be given its range, as it has none of its own, got 'default_space'.")
        value = setting.search
    spelled = {key: inner for key, inner in value.items() if key != "default"}
    strangers = [key for key in spelled if key not in KINDS]
    if strangers:
        raise ValueError(unknown("search space", strangers[0], [*KINDS, "default"]))
    if len(spelled) != 1:
        raise ValueError(f"must name one of {', '.join(KINDS)}, got {dict(value)!r}.")
    [(kind, given)] = spelled.items()
    space = _choice(given, setting) if kind == "choice" else _range(kind, given, setting)
    if "default" in value:
        default = setting.check(value["default"])
    elif default_in_range and not space.contains(default):
        default = setting.check(space.middle())
    return replace(space, default=default)


def _choice(given: Any, setting: Setting) -> Space:
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"must be a choice of one value or more, got {given!r}.")
    if any(isinstance(each, list | tuple) for each in given):
        raise ValueError(f"must be a choice of single values, got {list(given)!r}.")
    choices = tuple(setting.check(each) for each in given)
    if len({repr(each) for each in choices}) < len(choices):
        raise ValueError(f"must be a choice of distinct values, got {list(given)!r}.")
    return Space(kind="choice", choices=choices)


def _range(kind: Kind, given: Any, setting: Setting) -> Space:
    legal = KINDS_OF_TYPE[setting.rule.type]
    if kind not in legal:
        names = f"{', '.join(legal[:-1])} or choice" if legal[:-1] else "choice"
        why = ", as it is a whole number" if setting.rule.type == "whole" else ""
        raise ValueError(f"must be searched by {names}{why}, got {kind!r}.")
    ends = [as_number(end) for end in given] if isinstance(given, list | tuple) else []
    low, high = ends if len(ends) == 2 else (None, None)
    if low is None or high is None:
        raise ValueError(f"must be searched between two numbers [low, high], got {given!r}.")
    if kind in ("int", "log_int") and any(end != math.floor(end) for end in (low, high)):
        raise ValueError(f"must be searched between whole numbers, got {list(given)!r}.")
    if low >= high:
        raise ValueError(f"must be searched with low < high, got {list(given)!r}.")
    if kind.startswith("log") and low <= 0:
        raise ValueError(f"must be searched with low > 0 on a log scale, got {list(given)!r}.")
    return Space(kind=kind, low=setting.check(low), high=setting.check(high))
