"""The values of a study file with ``--set`` values put over them, and where each was given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from typing import Any

from setsweep.losses.values import nearest
from setsweep.sweeps.study.text.errors import Location, StudyError, error_line
from setsweep.trainables.settings.yaml_text import Path, YamlError, dump_yaml
from setsweep.trainables.settings.yaml_text import read_yaml as read_plain_yaml

MOST_BYTES = 10**6


@dataclass
class Source:
    """What a study file and its overrides say.

    Args:
        values: nested plain data; keys are text.
        locations: where each value stands, by its path of keys and list indices.
    """

    values: dict[str, Any]
    locations: dict[Path, Location]

    def has(self, path: Path) -> bool:
        """Whether a value was given."""
        return path in self.locations

    def where(self, path: Path) -> Location:
        """Where the value was given; for one that was left out, the location of what it would belong to."""
        while path not in self.locations:
            path = path[:-1]
        return self.locations[path]

    def override(self, assignment: str) -> None:
        """Put a value over the file's: ``training.epochs=3``; the right side is YAML.

        Raises:
            StudyError: no assignment, no YAML, or a field within something that is no mapping.
        """
        location = Location(0, f"--set {assignment}")
        field, equals, text = assignment.partition("=")
        if not equals or not field.strip():
            raise StudyError([f"{location}: must be FIELD=VALUE, got {assignment!r}."])
        path = override_path(field.strip())
        if not all(key.strip() for part in path for key in part.split(".")):
            raise StudyError([f"{location}: must be a field with names between its dots, got {field.strip()!r}."])
        value, locations = read_yaml(text, location.origin, lines=False)
        self._mapping_at(path[:-1], location)[path[-1]] = value
        kept = {other: where for other, where in self.locations.items() if other[: len(path)] != path}
        self.locations = kept | {(*path, *inner): where for inner, where in locations.items()}

    def fill_in(self, path: tuple[str, ...], value: Any, location: Location) -> None:
        """Put in a value that was not given; nothing where what it would belong to is no mapping.

        Args:
            path: of the value.
            value: plain data.
            location: that errors of the value show.
        """
        mapping = self.values
        for key in path[:-1]:
            if mapping.get(key) is None:
                mapping[key] = {}
            mapping = mapping[key]
            if not isinstance(mapping, dict):
                return
        mapping[path[-1]] = list(value) if isinstance(value, tuple) else value
        self.locations[path] = location

    def _mapping_at(self, path: tuple[str, ...], location: Location) -> dict[str, Any]:
        """The mapping that holds the overridden value, made where there is none."""
        mapping = self.values
        for depth, key in enumerate(path, 1):
            if mapping.get(key) is None:
                mapping[key] = {}
                self.locations[path[:depth]] = location
            mapping = mapping[key]
            if not isinstance(mapping, dict):
                raise StudyError([error_line(location, path[:depth], f"must be a mapping, got {mapping!r}.")])
        return mapping


def override_path(field: str) -> tuple[str, ...]:
    """The keys of a dotted field; those of `grid` and `sensitivity`, and of training in an arm, hold dots themselves.

    ``grid.data.label_noise`` is ("grid", "data.label_noise"), ``arms.avgk.training.epochs`` is ("arms", "avgk",
    "training.epochs").
    """
    keys = field.split(".")
    if keys[0] in ("grid", "sensitivity") and len(keys) > 1:
        return (keys[0], ".".join(keys[1:]))
    if keys[0] == "arms" and len(keys) > 3 and keys[2] == "training":
        return ("arms", keys[1], ".".join(keys[2:]))
    return tuple(keys)


def read_yaml(text: str, origin: str, *, lines: bool = True) -> tuple[Any, dict[Path, Location]]:
    """The value of a YAML text, and where each part of it stands.

    Args:
        text: one YAML document.
        origin: the file's name, for messages.
        lines: whether locations have lines; False for a ``--set``.

    Raises:
        StudyError: see `YamlError`.
    """
    try:
        value, found = read_plain_yaml(text)
    except YamlError as error:
        location = Location(error.line if lines else 0, origin)
        raise StudyError([error_line(location, error.path, error.rule)]) from None
    return value, {path: Location(line if lines else 0, origin) for path, line in found.items()}


def read_source(text: str, name: str) -> Source:
    """The values and locations of a study file's text; `name` is for messages. Raises StudyError."""
    values, locations = read_yaml(text, name)
    if not isinstance(values, dict):
        got = "an empty file" if values is None else repr(values)
        raise StudyError([f"{locations[()]}: must be a mapping of fields, got {got}."])
    return Source(values, locations)


def plain_source(values: Mapping[str, Any], name: str) -> Source:
    """The values of a study that is no file, but plain data; locations have no lines. Raises StudyError."""
    try:
        text = dump_yaml(json.loads(json.dumps(values)))
    except (TypeError, ValueError) as error:
        raise StudyError([f"{name}: must be plain data, got {error}."]) from None
    read, locations = read_yaml(text, name, lines=False)
    return Source(read, locations)


def open_study(path_or_name: str | FilePath) -> tuple[str, str]:
    """The text of a study file or bundled study, and the path that messages show.

    Raises:
        StudyError: neither a file nor a bundled study; a file that cannot be read or is no UTF-8 text.
    """
    shown, path, names = str(path_or_name), FilePath(path_or_name), bundled_studies()
    try:
        if path.exists() and not (path.is_dir() and shown in names):
            content = _content(path)
        elif shown in names:
            return open_bundled(shown)
        else:
            if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
                raise StudyError([f"{shown}: must be a study file or the name of a bundled study, got no such file."])
            known = f"{nearest(shown, names)} Bundled: {', '.join(names)}."
            raise StudyError([f"{shown}: must be a study file or the name of a bundled study, got neither.{known}"])
        return content.decode("utf-8-sig"), shown
    except UnicodeDecodeError as error:
        raise StudyError([f"{shown}: must be UTF-8 text, got byte {error.object[error.start]:#04x}."]) from None
    except OSError as error:
        raise StudyError([f"{shown}: must be a file that can be read, got: {error.strerror}."]) from None


def open_bundled(name: str) -> tuple[str, str]:
    """The text of the bundled study of that name, whatever lies in the current folder, and its path for messages."""
    path = _bundle()[name]
    return (_studies() / path).read_text(encoding="utf-8"), f"sweeps/studies/{path}"


def _content(path: FilePath) -> bytes:
    """What a regular file of a sensible size holds: a device or a pipe might never end. Raises StudyError, OSError."""
    if not path.is_file() and not path.is_dir():
        raise StudyError([f"{path}: must be a regular file, got a device, a pipe or a socket."])
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise StudyError([f"{path}: must be at most a megabyte, got {path.stat().st_size:,} bytes."])
    return path.read_bytes()


def bundled_studies() -> list[str]:
    """The names of the studies that come with Setsweep."""
    return sorted(_bundle())


def _bundle() -> dict[str, str]:
    """The files by the names of the studies; those that repeat a paper's experiments lie in a folder of their own."""
    folders = {"": _studies(), "papers/": _studies() / "papers"}
    files = [(below, file.name) for below, folder in folders.items() for file in folder.iterdir()]
    return {file.removesuffix(".yaml"): below + file for below, file in files if file.endswith(".yaml")}


def _studies() -> Traversable:
    return resources.files("setsweep.sweeps") / "studies"
