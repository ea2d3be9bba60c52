"""The `training` section: checked as a whole, for run configurations, study files, search spaces and grids alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.values import unknown
from setsweep.trainables.config.presets import check_preset, settings_added
from setsweep.trainables.config.run_config import SECTIONS, TRAINING, Training
from setsweep.trainables.settings.problems import ConfigError, Problem, Problems

PRESET = "preset"  # beside the settings, a name that fills in some of them

_ONLY_SGD = ("momentum", "nesterov")
_ONLY_ADAM = ("betas",)


def default_training() -> dict[str, Any]:
    """Every setting's default, by dotted path."""
    return {path: setting.default for path, setting in TRAINING.items()}


def flatten(training: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings of `training` by dotted path: ``{"optimizer.lr": 0.1}``."""
    flat: dict[str, Any] = {}
    for key, value in training.items():
        if key in SECTIONS and isinstance(value, Mapping):
            flat.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            flat[key] = value
    return flat


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `flatten`."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        section, _, name = path.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[name] = value
    return nested


def check_training(plain: Mapping[str, Any]) -> Training:
    """The training settings in their own types, every default filled in.

    Args:
        plain: nested settings, as in a configuration file; those that it leaves to a preset included.

    Raises:
        ConfigError: unknown settings, values out of range, settings that contradict each other.
    """
    given = flatten(plain)
    problems = Problems()
    if (preset := given.pop(PRESET, None)) is not None:
        try:
            given |= settings_added(check_preset(preset), given)
        except ValueError as error:
            problems.add(f"training.{PRESET}", str(error))
    for section in SECTIONS.keys() & given.keys():
        problems.add(f"training.{section}", f"must be a mapping, got {given.pop(section)!r}.")
    return _whole(default_training() | problems.values("training", given, TRAINING), problems)


def with_settings(training: Training, changed: Mapping[str, Any]) -> Training:
    """Complete settings with some of them changed: what `check_training` would make of it, without a preset.

    Args:
        training: complete.
        changed: by dotted path.

    Raises:
        ConfigError: as there.
    """
    problems = Problems()
    plain = {field.name: getattr(training, field.name) for field in dataclasses.fields(training)}
    complete = flatten({**plain, **{name: vars(plain[name]) for name in SECTIONS}})
    return _whole(complete | problems.values("training", changed, TRAINING), problems)


def _whole(complete: Mapping[str, Any], problems: Problems) -> Training:
    """Of all settings by dotted path, legal each by itself; raises ConfigError for what is wrong till then, too."""
    for path, rule in _contradictions(complete):
        problems.add(f"training.{path}", rule)
    problems.raise_any()
    nested = nest(complete)
    return Training(**{**nested, **{name: kind(**nested[name]) for name, kind in SECTIONS.items()}})


def check_for_loss(training: Training, declaration: LossDeclaration) -> None:
    """Raise ConfigError for labels that a loss can't take, and for a head that doesn't score its classes."""
    problems = []
    mixup = training.augment.mixup
    if mixup and not declaration.soft_labels:
        rule = f"must be 0 with {declaration.name}, which takes no soft labels, got {mixup:g}."
        problems.append(Problem("training.augment.mixup", rule))
    if training.head == "sccp" and not declaration.either_head_predicts:
        rule = f"must be ml with {declaration.name}, whose other head does not score the classes, got sccp."
        problems.append(Problem("training.head", rule))
    if problems:
        raise ConfigError(problems)


def check_value(path: str, value: Any) -> Any:
    """One setting's value in its own type.

    Raises:
        ValueError: the rule it breaks, without a subject.
    """
    if path in SECTIONS:
        raise ValueError(f"must be a mapping, got {value!r}.")
    if path not in TRAINING:
        raise ValueError(unknown("setting", path, TRAINING))
    return TRAINING[path].check(value)


def _contradictions(training: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Legal settings that don't go together: a path, and the rule that it breaks."""
    found = []
    epochs, milestones, warmup = training["epochs"], training["milestones"], training["warmup_epochs"]
    for setting, last in (("milestones", milestones[-1] if milestones else 0), ("warmup_epochs", warmup)):
        if last >= epochs:
            found.append((setting, f"must be below training.epochs = {epochs}, got {last}."))
    if training["patience"] is not None and training["keep"] == "last":
        rule = f"must be null with training.keep = last, which waits for no best epoch, got {training['patience']}."
        found.append(("patience", rule))
    name = training["optimizer.name"]
    for setting in _ONLY_ADAM if name == "sgd" else _ONLY_SGD:
        value, path = training[f"optimizer.{setting}"], f"optimizer.{setting}"
        if value != TRAINING[path].default:
            found.append((path, f"must be left out, since {name} has none, got {value!r}."))
    if name == "sgd" and training["optimizer.nesterov"] and training["optimizer.momentum"] == 0:
        found.append(("optimizer.nesterov", "must be false without momentum, got True."))
    return found
