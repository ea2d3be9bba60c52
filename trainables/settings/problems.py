"""What is wrong with a configuration: one field and one rule at a time, so that all of it can be told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from setsweep.losses.values import unknown
from setsweep.trainables.settings.setting import Setting

T = TypeVar("T")


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


class ConfigError(ValueError):
    """A run configuration that cannot be run; `problems` holds every reason, one a line of the message."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[Problem, ...]]]:
        """What it is made of, and not its message: it may come from another process."""
        return type(self), (self.problems,)


class Problems:
    """Collects what is wrong while a configuration is checked."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, field: str, rule: str) -> None:
        """The field breaks the rule."""
        self._found.append(Problem(field, rule))

    def gathered(self, part: Callable[[], T]) -> T | None:
        """What a part of the check gives; None where it raised ConfigError, whose problems are taken."""
        try:
            return part()
        except ConfigError as error:
            self._found += error.problems
            return None

    def values(self, section: str, given: Mapping[str, Any], settings: Mapping[str, Setting]) -> dict[str, Any]:
        """The legal ones among some values of a section, in their own types.

        Args:
            section: what stands before the names in a field; empty: nothing.
            given: values by name.
            settings: the section's.
        """
        legal: dict[str, Any] = {}
        for name, value in given.items():
            field = f"{section}.{name}" if section else name
            if name not in settings:
                self.add(field, unknown("setting", name, settings))
                continue
            try:
                legal[name] = settings[name].check(value)
            except ValueError as error:
                self.add(field, str(error))
        return legal

    def raise_any(self) -> None:
        """Raises ConfigError if anything was found."""
        if self._found:
            raise ConfigError(self._found)
