"""Rules: each takes what a file holds and gives it back in its own type, or says what it must be.

A rule's message has no subject ("must be >= 1, got 0."); whoever applies it puts the field in front. Numbers and names
are checked as losses check them (`losses.values`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from setsweep.losses.values import Number, check_flag, nearest


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    Args:
        type: "whole" and "real" numbers can be searched over a range, "other" values only by choice; what "any" value
            is, whoever takes it knows.
        check: gives the value in its own type.
            Raises ValueError: the rule and the value, without a subject.
        words: the rule in words, for listings, e.g. "a whole number >= 1 or full".
        schema: the rule as JSON schema.
    """

    type: Literal["whole", "real", "other", "any"]
    check: Callable[[Any], Any]
    words: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


def whole(low: int, *, high: int | None = None, high_name: str = "", besides: Sequence[str | None] = ()) -> Rule:
    """A whole number from `low` to `high`, which messages may call by a name; `besides` ("full", None) is legal too."""
    return number(Number(whole=True, low=low, high=high, high_name=high_name), besides)


def real(
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    besides: Sequence[str | None] = (),
) -> Rule:
    """A finite number within the bounds given: >= `low`, > `above`, <= `high`, < `below`; or one of `besides`."""
    return number(Number(low=low, above=above, high=high, below=below), besides)


def number(legal: Number, besides: Sequence[str | None] = ()) -> Rule:
    """A legal number, or one of `besides`."""
    otherwise = "".join(f" or {_word(value)}" for value in besides)

    def check(value: Any) -> Any:
        if (value is None or isinstance(value, str)) and value in besides:
            return value
        return legal.check(value, otherwise=otherwise)

    keys = {"low": "minimum", "above": "exclusiveMinimum", "high": "maximum", "below": "exclusiveMaximum"}
    bounds = {key: getattr(legal, name) for name, key in keys.items() if getattr(legal, name) is not None}
    schema: dict[str, Any] = {"type": "integer" if legal.whole else "number", **bounds}
    if besides:
        schema = {"anyOf": [schema, {"enum": list(besides)}]}
    return Rule("whole" if legal.whole else "real", check, legal.words() + otherwise, schema)


def share_or_whole() -> Rule:
    """A share of one, or a whole number of them, or "auto"."""
    amount = real(low=0, besides=("auto",))

    def check(value: object) -> object:
        checked = amount.check(value)
        if checked != "auto" and checked > 1 and not checked.is_integer():
            raise ValueError(f"must be <= 1 or whole or auto, got {value}.")
        return checked

    schema = {"anyOf": [real(low=0, high=1).schema, whole(0).schema, {"enum": ["auto"]}]}
    return Rule(amount.type, check, "a share of one, a whole number, or auto", schema)


def one_of(*names: str | None) -> Rule:
    """One of a few names; None stands for "not given"."""
    words = f"one of {', '.join(map(_word, names))}"

    def check(value: Any) -> str | None:
        if not (value is None or isinstance(value, str)) or value not in names:
            raise ValueError(f"must be {words}, got {value!r}.{nearest(value, filter(None, names))}")
        return value

    return Rule("other", check, words, {"enum": list(names)})


def flag() -> Rule:
    """True or false."""
    return Rule("other", check_flag, "true or false", {"type": "boolean"})


def text() -> Rule:
    """Any text."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be text, got {value!r}.")  # noqa: TRY004  # what a user wrote
        return value

    return Rule("other", check, "text", {"type": "string"})


def spelled(pattern: str, words: str) -> Rule:
    """Text of a certain form."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError(f"must be {words}, got {value!r}.")
        return value

    return Rule("other", check, words, {"type": "string", "pattern": f"^{pattern}$"})


def anything() -> Rule:
    """Whatever it is."""
    return Rule("any", lambda value: value, "plain data", {})


def listed(item: Rule, *, length: int | None = None, ascending: bool = False, distinct: bool = False) -> Rule:
    """A list whose items keep a rule of their own, as a tuple; `ascending` and `distinct` ones hold no value twice."""
    words = "a list" if length is None else f"a list of {length}"

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or (length is not None and len(value) != length):
            raise ValueError(f"must be {words}, got {value!r}.")
        items = tuple(item.check(each) for each in value)
        if ascending and any(after <= before for before, after in itertools.pairwise(items)):
            raise ValueError(f"must be ascending, got {list(value)!r}.")
        if distinct and len(set(items)) < len(items):
            raise ValueError(f"must be a list of distinct values, got {list(value)!r}.")
        return items

    sizes = {} if length is None else {"minItems": length, "maxItems": length}
    unique = {"uniqueItems": True} if ascending or distinct else {}
    schema = {"type": "array", "items": dict(item.schema), **sizes, **unique}
    return Rule("other", check, f"{'an ascending list' if ascending else words}, each {item.words}", schema)


def _word(value: str | None) -> str:
    return "null" if value is None else value
