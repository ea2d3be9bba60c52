"""Collects what is wrong with a study while it is read, so that all of it is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from setsweep.sweeps.study.text.errors import Location, StudyError, error_line
from setsweep.sweeps.study.text.hints import unknown_field
from setsweep.sweeps.study.text.source import Source
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.settings.setting import Setting
from setsweep.trainables.settings.yaml_text import Path


class Findings:
    """Broken rules with where they were broken.

    Args:
        source: what is read.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[tuple[Location, Path, str]] = []

    def add(self, path: Path, rule: str) -> None:
        """The value at `path` breaks `rule`."""
        self._found.append((self.source.where(path), path, rule))

    def within(self, *sections: str) -> bool:
        """Whether something is wrong in one of the top sections."""
        return any(path[:1] == (section,) for _, path, _ in self._found for section in sections)

    def checked(self, path: Path, check: Callable[[Any], Any], value: Any, default: Any = None) -> Any:
        """What `check` gives for the value; a ValueError is a finding, and the answer then the default."""
        try:
            return check(value)
        except ValueError as error:
            self.add(path, str(error))
            return default

    def raise_any(self) -> None:
        """Raises StudyError if anything was found, in the order of the file, overrides first."""
        if self._found:
            raise StudyError(error_line(*found) for found in sorted(self._found, key=lambda found: found[0].line))


class Section:
    """A mapping of a study, read field by field; one that is left out or null is empty.

    Args:
        findings: receives what is wrong.
        path: of the mapping.
        known: the legal fields; None: any.
    """

    def __init__(self, findings: Findings, path: Path, known: Iterable[str] | None = None) -> None:
        self._findings, self._path = findings, path
        self.values: Mapping[str, Any] = self._mapping()
        names = list(self.values if known is None else known)
        for field in self.values:
            if field not in names:
                training = () if path else TRAINING
                findings.add((*path, field), unknown_field("field", field, names, training=training))

    def read(self, field: str, setting: Setting) -> Any:
        """The field's value in its own type; the default where it is left out or broken."""
        if field not in self.values:
            return setting.default
        return self._findings.checked((*self._path, field), setting.check, self.values[field], setting.default)

    def read_all(self, settings: Mapping[str, Setting]) -> dict[str, Any]:
        """`read` of each of some settings, by name."""
        return {field: self.read(field, setting) for field, setting in settings.items()}

    def _mapping(self) -> Mapping[str, Any]:
        value: Any = self._findings.source.values
        for key in self._path:
            value = value.get(key)
            if value is None:
                return {}
        if not isinstance(value, Mapping):
            self._findings.add(self._path, f"must be a mapping, got {value!r}.")
            return {}
        return value
