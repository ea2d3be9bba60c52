"""The values of a study file with ``--set`` values put over them, and where each was given."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from typing import Any

from setsweep.sweeps.study.errors import Path, Place, StudyError, error_line
from setsweep.sweeps.study.yaml_nodes import read_yaml
from setsweep.trainables.settings.problems import nearest


@dataclass
class Source:
    """What a study file and its overrides say.

    Args:
        values: nested plain data; keys are text.
        places: where each value stands, by its path of keys and list indices.
    """

    values: dict[str, Any]
    places: dict[Path, Place]

    def has(self, path: Path) -> bool:
        """Whether a value was given."""
        return path in self.places

    def where(self, path: Path) -> Place:
        """Where the value was given; for one that was left out, the place of what it would belong to."""
        while path not in self.places:
            path = path[:-1]
        return self.places[path]

    def override(self, assignment: str) -> None:
        """Put a value over the file's: ``training.epochs=3``; the right side is YAML.

        Raises:
            StudyError: no assignment, no YAML, or a field within something that is no mapping.
        """
        place = Place(0, f"--set {assignment}")
        field, equals, text = assignment.partition("=")
        if not equals or not field.strip():
            raise StudyError([f"{place}: must be FIELD=VALUE, got {assignment!r}."])
        path = override_path(field.strip())
        value, places = read_yaml(text, place.origin, lines=False)
        self._mapping_at(path[:-1], place)[path[-1]] = value
        kept = {other: where for other, where in self.places.items() if other[: len(path)] != path}
        self.places = kept | {(*path, *inner): where for inner, where in places.items()}

    def fill_in(self, path: tuple[str, ...], value: Any, place: Place) -> None:
        """Put in a value that was not given; nothing where what it would belong to is no mapping.

        Args:
            path: of the value.
            value: plain data.
            place: that errors of the value show.
        """
        mapping = self.values
        for key in path[:-1]:
            if mapping.get(key) is None:
                mapping[key] = {}
            mapping = mapping[key]
            if not isinstance(mapping, dict):
                return
        mapping[path[-1]] = list(value) if isinstance(value, tuple) else value
        self.places[path] = place

    def _mapping_at(self, path: tuple[str, ...], place: Place) -> dict[str, Any]:
        """The mapping that holds the overridden value, made where there is none."""
        mapping = self.values
        for depth, key in enumerate(path, 1):
            if mapping.get(key) is None:
                mapping[key] = {}
                self.places[path[:depth]] = place
            mapping = mapping[key]
            if not isinstance(mapping, dict):
                raise StudyError([error_line(place, path[:depth], f"must be a mapping, got {mapping!r}.")])
        return mapping


def override_path(field: str) -> tuple[str, ...]:
    """The keys of a dotted field; the keys of `grid`, and those of training in an arm, hold dots themselves.

    ``grid.data.label_noise`` is ("grid", "data.label_noise"), ``arms.avgk.training.epochs`` is ("arms", "avgk",
    "training.epochs").
    """
    keys = field.split(".")
    if keys[0] == "grid" and len(keys) > 1:
        return ("grid", ".".join(keys[1:]))
    if keys[0] == "arms" and len(keys) > 3 and keys[2] == "training":
        return ("arms", keys[1], ".".join(keys[2:]))
    return tuple(keys)


def read_source(text: str, name: str) -> Source:
    """The values and places of a study file's text; `name` is for messages. Raises StudyError."""
    values, places = read_yaml(text, name)
    if not isinstance(values, dict):
        got = "an empty file" if values is None else repr(values)
        raise StudyError([f"{places[()]}: must be a mapping of fields, got {got}."])
    return Source(values, places)


def open_study(path_or_name: str | FilePath) -> tuple[str, str]:
    """The text of a study file or bundled study, and the path that messages show.

    Raises:
        StudyError: neither a file nor a bundled study; a file that cannot be read or is no UTF-8 text.
    """
    shown, path, names = str(path_or_name), FilePath(path_or_name), bundled_studies()
    try:
        if path.exists() and not (path.is_dir() and shown in names):
            content = path.read_bytes()
        elif shown in names:
            content = (_bundle() / f"{shown}.yaml").read_bytes()
            shown = f"sweeps/studies/{shown}.yaml"
        else:
            known = f"{nearest(shown, names)} Bundled: {', '.join(names)}."
            raise StudyError([f"{shown}: must be a study file or the name of a bundled study, got neither.{known}"])
        return content.decode("utf-8-sig"), shown
    except UnicodeDecodeError as error:
        raise StudyError([f"{shown}: must be UTF-8 text, got byte {error.object[error.start]:#04x}."]) from None
    except OSError as error:
        raise StudyError([f"{shown}: must be a file that can be read, got: {error.strerror}."]) from None


def bundled_studies() -> list[str]:
    """The names of the studies that come with Setsweep."""
    return sorted(file.name.removesuffix(".yaml") for file in _bundle().iterdir() if file.name.endswith(".yaml"))


def _bundle() -> Traversable:
    return resources.files("setsweep.sweeps") / "studies"
