"""The legal values of `training`, once: for run configurations, study files, search spaces and grids alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from setsweep.losses.declaration import LossDeclaration
from setsweep.trainables.config.presets import check_preset, settings_added
from setsweep.trainables.config.run_config import SECTIONS, Optimizer, Training
from setsweep.trainables.settings.problems import ConfigError, Problem, unknown
from setsweep.trainables.settings.rules import Rule, flag, listed, one_of, real, whole

RULES: Mapping[str, Rule] = {
    "epochs": whole(1),
    "batch_size": whole(1, besides=("full",)),
    "optimizer.name": one_of("sgd", "adam", "adamw"),
    "optimizer.lr": real(above=0),
    "optimizer.momentum": real(low=0, below=1),
    "optimizer.nesterov": flag(),
    "optimizer.weight_decay": real(low=0),
    "optimizer.betas": listed(real(low=0, below=1), length=2),
    "milestones": listed(whole(1), ascending=True),
    "gamma": real(above=0, high=1),
    "keep": one_of("best", "last"),
    "evaluate_every": whole(1),
    "threshold_scores": one_of(None, "softmax", "sigmoid"),
    "head": one_of("ml", "sccp"),
    "reference_batch_size": whole(1, besides=(None,)),
    "device": one_of("auto", "cpu", "cuda"),
    "warmup_epochs": whole(0),
    "clip_norm": real(above=0, besides=(None,)),
    "ema": real(low=0, below=1),
    "patience": whole(1, besides=(None,)),
    "precision": one_of("float32", "tf32", "bfloat16"),
    "compile": flag(),
    "augment.pad_crop": whole(0),
    "augment.flip": flag(),
    "augment.cutout": whole(0),
    "augment.mixup": real(low=0),
}
"""What each setting must be, by its dotted path below `training`."""

PRESET = "preset"  # beside the settings, a name that fills in some of them

_ONLY_SGD = ("momentum", "nesterov")
_ONLY_ADAM = ("betas",)


def default_training() -> dict[str, Any]:
    """Every setting's default, by dotted path."""
    return flatten(dataclasses.asdict(Training()))


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
    problems = []
    if (preset := given.pop(PRESET, None)) is not None:
        try:
            given |= settings_added(check_preset(preset), given)
        except ValueError as error:
            problems.append(Problem(f"training.{PRESET}", str(error)))
    typed, broken = check_values(given)
    complete = default_training() | typed
    problems += broken + _contradictions(complete)
    if problems:
        raise ConfigError(problems)
    nested = nest(complete)
    return Training(**{**nested, **{name: kind(**nested[name]) for name, kind in SECTIONS.items()}})


def check_for_loss(training: Training, declaration: LossDeclaration) -> None:
    """Raise ConfigError for labels that a loss can't take."""
    mixup = training.augment.mixup
    if mixup and not declaration.soft_labels:
        rule = f"must be 0 with {declaration.name}, which takes no soft labels, got {mixup:g}."
        raise ConfigError([Problem("training.augment.mixup", rule)])


def check_values(flat: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The legal ones among some settings by dotted path, in their own types, and what is wrong with the others."""
    typed: dict[str, Any] = {}
    problems: list[Problem] = []
    for path, value in flat.items():
        try:
            typed[path] = check_value(path, value)
        except ValueError as error:
            problems.append(Problem(f"training.{path}", str(error)))
    return typed, problems


def check_value(path: str, value: Any) -> Any:
    """One setting's value in its own type.

    Raises:
        ValueError: the rule it breaks, without a subject.
    """
    if path in SECTIONS:
        raise ValueError(f"must be a mapping, got {value!r}.")
    if path not in RULES:
        raise ValueError(unknown("setting", path, RULES))
    return RULES[path].check(value)


def _contradictions(training: Mapping[str, Any]) -> list[Problem]:
    problems = []
    epochs, milestones, warmup = training["epochs"], training["milestones"], training["warmup_epochs"]
    for setting, last in (("milestones", milestones[-1] if milestones else 0), ("warmup_epochs", warmup)):
        if last >= epochs:
            problems.append(Problem(f"training.{setting}", f"must be below training.epochs = {epochs}, got {last}."))
    if training["patience"] is not None and training["keep"] == "last":
        rule = f"must be null with training.keep = last, which waits for no best epoch, got {training['patience']}."
        problems.append(Problem("training.patience", rule))
    name = training["optimizer.name"]
    for setting in _ONLY_ADAM if name == "sgd" else _ONLY_SGD:
        value, default = training[f"optimizer.{setting}"], getattr(Optimizer(), setting)
        if value != default:
            rule = f"must be left out, since {name} has none, got {value!r}."
            problems.append(Problem(f"training.optimizer.{setting}", rule))
    if name == "sgd" and training["optimizer.nesterov"] and training["optimizer.momentum"] == 0:
        problems.append(Problem("training.optimizer.nesterov", "must be false without momentum, got True."))
    return problems
