"""How a study says that it cannot be run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from setsweep.trainables.settings.yaml_text import Path, as_written, dotted


class StudyError(ValueError):
    """A study that cannot be run; `errors` holds every reason, one a line of the message."""

    def __init__(self, errors: Iterable[str]) -> None:
        self.errors = tuple(dict.fromkeys(errors))
        super().__init__("\n".join(self.errors))


@dataclass(frozen=True)
class Location:
    """Where a value was given: a line of a file, or (line 0) a ``--set``; `below` what it is read as a field of."""

    line: int
    origin: str
    below: Path = ()

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin


def error_line(location: Location, path: Path, rule: str) -> str:
    """``studies/fashion.yaml:14: arms.avgk.alpha: must be > 0, got 0.``"""
    rule, path = as_written(rule), (*location.below, *path) if path else path
    return f"{location}: {dotted(path)}: {rule}" if path else f"{location}: {rule}"
