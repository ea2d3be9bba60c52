"""Checks of the settings that a study gives a data set: their type is that of the default, their range is stated."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable


def typed(name: str, default: object, value: object) -> object:
    """The value in the type of the default: text stays text, 3.0 is a whole number, null only replaces a null.

    Args:
        name: the setting, for the message.
        default: its default; None stands for an optional whole number.
        value: what the study says.

    Raises:
        ValueError: the value has another type.
    """
    if default is None:
        return None if value is None else _whole(name, value, "a whole number or null")
    if isinstance(default, str):
        require(isinstance(value, str), name, "text", value)
        return value
    if isinstance(default, float):
        return _number(name, value)
    return _whole(name, value, "a whole number")


def require(fulfilled: bool, name: str, rule: str, value: object) -> None:
    """Raise ValueError in the project's form, e.g. "sigma must be > 0, got -1.0.", unless the rule is fulfilled."""
    if not fulfilled:
        raise ValueError(f"{name} must be {rule}, got {value!r}.")


def require_one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Raise ValueError unless the value is one of the names."""
    names = list(known)
    require(value in names, name, f"one of {', '.join(names)}", value)


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the known name nearest to it, and all known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names)}."


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a number, got {value!r}.")
    return float(value)


def _whole(name: str, value: object, rule: str) -> int:
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0
    require(whole, name, rule, value)
    return int(value)  # type: ignore[call-overload,no-any-return]  # a whole number by the line above
