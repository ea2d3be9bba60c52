"""Single values that a user gives: what they must be, and what is said where they are something else.

The lowest place that has to say so; whatever checks a number or looks up a name says it in these words. A message has
no subject ("must be >= 1, got 0."): whoever applies the rule puts the name in front.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class Number:
    """What a number must be: finite, and within the bounds that are given.

    Args:
        whole: no fraction; 3.0 is 3.
        low, high: ends that are included; `above`, `below`: ends that are not.
        high_name: what messages call the high end, e.g. "num_classes - 1".
    """

    whole: bool = False
    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None
    high_name: str = ""

    def bounds(self) -> str:
        """The bounds in words, e.g. ``between 1 and 50``; empty where there are none."""
        if self.low is not None and self.high is not None:
            name = f"{self.high_name} = " if self.high_name else ""
            return f"between {_end(self.low)} and {name}{_end(self.high)}"
        ends = ((">=", self.low), (">", self.above), ("<=", self.high), ("<", self.below))
        return " and ".join(f"{sign} {_end(end)}" for sign, end in ends if end is not None)

    def words(self) -> str:
        """The whole rule in words, e.g. ``a whole number >= 1``."""
        return " ".join(part for part in ("a whole number" if self.whole else "a number", self.bounds()) if part)

    def check(self, value: object, *, otherwise: str = "") -> float | int:
        """The value as an int or a float; text that spells a number is that number, as YAML 1.1 reads 1e-3 as text.

        Args:
            value: of whatever type.
            otherwise: what else would be legal, for the message, e.g. " or full".

        Raises:
            ValueError: the rule and the value, without a subject.
        """
        number = as_number(value)
        if number is None or (self.whole and number != math.floor(number)):
            raise ValueError(f"must be {self.words()}{otherwise}, got {value!r}.")
        if not self._holds(number):
            raise ValueError(f"must be {self.bounds()}{otherwise}, got {value!r}.")
        return int(number) if self.whole else float(number) + 0.0  # -0.0 is 0.0

    def _holds(self, number: float) -> bool:
        return (
            (self.low is None or number >= self.low)
            and (self.above is None or number > self.above)
            and (self.high is None or number <= self.high)
            and (self.below is None or number < self.below)
        )


def _end(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def as_number(value: object) -> float | int | None:
    """The finite number that a value is or spells; None: it is none, as true and false are none."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return value


def check_flag(value: object) -> bool:
    """True or false.

    Raises:
        ValueError: the value is neither.
    """
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, got {value!r}.")  # noqa: TRY004  # what a user wrote
    return value


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The rule for a failed look-up: the nearest legal name, and all there are."""
    names = sorted(known)
    return f"unknown {kind} {name!r}.{nearest(name, names)} Known: {', '.join(names) or 'none'}."


def nearest(name: object, known: Iterable[str]) -> str:
    """`` Did you mean 'avgk'?``, or nothing where no legal name is near; a part of a longer name is near to it."""
    names, asked = list(known), str(name)[:100]
    close = [each for each in names if each.endswith(f".{asked}")]
    close = close or difflib.get_close_matches(asked, names, n=1)
    if not close and len(asked) > 2:
        close = sorted((each for each in names if asked in each), key=len)
    return f" Did you mean {close[0]!r}?" if close else ""
