"""Reads the `data` and `model` sections of a study: a name, fixed values and search spaces of its settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from setsweep.data.user_function import is_own
from setsweep.sweeps.study.space import KINDS, Space, is_space, read_space
from setsweep.sweeps.study.text.findings import Findings
from setsweep.trainables.config.sections import TABLES, check_data, check_model, declared_settings
from setsweep.trainables.settings.problems import ConfigError
from setsweep.trainables.settings.setting import Setting

CHECKS: Mapping[str, Callable[[Any], dict[str, Any]]] = {"data": check_data, "model": check_model}


@dataclass
class NamedSection:
    """A `data` or `model` section.

    Args:
        values: complete, each searched setting at its default; empty where something is wrong.
        searched: the search spaces given, by path in a run's configuration, e.g. "model.width".
    """

    values: dict[str, Any] = field(default_factory=dict)
    searched: dict[str, Space] = field(default_factory=dict)


def read_named_section(findings: Findings, section: str, *, besides: Collection[str] = ()) -> NamedSection:
    """The section as the study gives it, with its defaults.

    Args:
        findings: receives what is wrong.
        section: "data" or "model".
        besides: fields of the section that are no settings, read elsewhere.
    """
    if section not in findings.source.values:
        return NamedSection()
    given = findings.source.values[section]
    if isinstance(given, Mapping):
        given = {key: value for key, value in given.items() if key not in besides}
    read = NamedSection()
    if isinstance(given, Mapping) and is_space(given.get("name")):
        findings.add(
            (section, "name"), f"must be one name, or several of them in grid.{section}.name, got {given['name']!r}."
        )
        return NamedSection()
    settings = _searchable(section, given)
    spelled = {
        key: setting for key, setting in settings.items() if _asks_for_search(given[key], own=is_own(given["name"]))
    }
    for key, setting in spelled.items():
        space = findings.checked((section, key), partial(_read_space, setting), given[key])
        if space is not None:
            read.searched[f"{section}.{key}"] = space
    if len(read.searched) < len(spelled):
        return NamedSection()
    try:
        defaults = {path.partition(".")[2]: space.default for path, space in read.searched.items()}
        read.values = CHECKS[section]({**given, **defaults} if defaults else given)
    except ConfigError as error:
        for problem in error.problems:
            findings.add(tuple(problem.field.split(".")), problem.rule)
    return read


def _searchable(section: str, given: Any) -> dict[str, Setting]:
    """The settings that a section gives, by name; none where it has no legal name."""
    name = given.get("name") if isinstance(given, Mapping) else None
    if not isinstance(name, str) or not (name in TABLES[section] or is_own(name)):
        return {}
    return {key: setting for key, setting in declared_settings(section, given).items() if key in given}


def _asks_for_search(value: Any, *, own: bool) -> bool:
    """Whether a value is a search space; a user's own function may be given mappings and words, and mean them."""
    return isinstance(value, Mapping) and any(kind in value for kind in KINDS) if own else is_space(value)


def _read_space(setting: Setting, value: Any) -> Space:
    if setting.decides_task:
        rule = "must be a fixed value or in the grid, as a search would choose the value that is easiest"
        raise ValueError(f"{rule}, got {value!r}.")
    return read_space(value, setting, default=setting.default, default_in_range=True)
