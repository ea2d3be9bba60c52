"""What is wrong with a configuration: one field and one rule at a time, so that all of it can be told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One broken rule.

    Args:
        field: dotted path of the value in its configuration, e.g. "training.epochs".
        rule: what is said about it, e.g. "must be >= 1, got 0." or "unknown loss 'avg_k'. Did you mean 'avgk'? ...".
    """

    field: str
    rule: str

    def __str__(self) -> str:
        return f"{self.field} {self.rule}" if self.rule.startswith("must ") else f"{self.field}: {self.rule}"

    @classmethod
    def from_message(cls, section: str, message: str, names: Iterable[str]) -> Problem:
        """The problem that an error message of a data set, a model or a loss tells.

        Args:
            section: the part of the configuration that was checked, e.g. "data".
            message: begins with the setting it is about, alone or after the section's name.
            names: the settings given or known; a message that begins otherwise is about the whole section.
        """
        match = re.match(rf"(?:{section}\.)?(\w+)(?:: | (?=must ))(.*)", message, re.DOTALL)
        if match and match[1] in set(names):
            return cls(f"{section}.{match[1]}", match[2])
        return cls(section, message.removeprefix(f"{section}: "))


class ConfigError(ValueError):
    """A run configuration that cannot be run; `problems` holds every reason, one a line of the message."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The rule for a failed look-up: the nearest legal name, and all there are."""
    names = sorted(known)
    return f"unknown {kind} {name!r}.{nearest(name, names)} Known: {', '.join(names) or 'none'}."


def nearest(name: object, known: Iterable[str]) -> str:
    """`` Did you mean 'avgk'?``, or nothing where no legal name is near; the end of a dotted name is near to it."""
    names = list(known)
    close = [each for each in names if each.endswith(f".{name}")]
    close = close or difflib.get_close_matches(str(name)[:100], names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
