"""The sections of a configuration that name a row of a table: `data`, `model` and `loss`, checked and complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import setsweep.data
from setsweep.data import DATASETS
from setsweep.data.user_function import FORM, is_own, is_plain
from setsweep.losses import LOSSES
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.values import unknown
from setsweep.trainables.config.losses import is_loss, loss_declaration
from setsweep.trainables.models import table as models
from setsweep.trainables.models.table import MODELS
from setsweep.trainables.settings.problems import ConfigError, Problem, Problems
from setsweep.trainables.settings.rules import Rule, whole
from setsweep.trainables.settings.setting import Setting, of_row

TABLES: Mapping[str, Mapping[str, Any]] = {"data": DATASETS, "model": MODELS, "loss": LOSSES}
KINDS = {"data": "data set", "model": "model", "loss": "loss"}  # what messages call a row


def declared_settings(section: str, settings: Mapping[str, Any]) -> dict[str, Setting]:
    """What the row that a section names declares, the name itself left out.

    Args:
        section: "data", "model" or "loss".
        settings: with a name that is in its table, or a function of the user's.
    """
    if settings["name"] in TABLES[section]:
        return _of_table(section, settings["name"])
    if section == "loss":
        return _of_loss(loss_declaration(settings["name"]))
    own = setsweep.data.declaration_of(settings) if section == "data" else models.declaration_of(settings)
    return {name: of_row(row) for name, row in own.settings.items()}


def without_later(section: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A section without the settings that came after the first results and have their defaults."""
    name = settings.get("name")
    named = name in TABLES[section] or (is_loss(name) if section == "loss" else is_own(name))
    known = declared_settings(section, settings) if named else {}
    later = {name: setting.default for name, setting in known.items() if setting.later}
    return {name: value for name, value in settings.items() if name not in later or value != later[name]}


def revision(loss: Mapping[str, Any]) -> int:
    """How often the results of a `loss` section's loss have changed since the first ones."""
    name = loss.get("name")
    return loss_declaration(name).revision if is_loss(name) else 0


@cache
def _of_table(section: str, name: str) -> dict[str, Setting]:
    if section != "loss":
        return {key: of_row(row) for key, row in TABLES[section][name].settings.items()}
    return _of_loss(LOSSES[name])


def _of_loss(declaration: LossDeclaration) -> dict[str, Setting]:
    settings = {key: of_row(row) for key, row in declaration.hyperparameters.items()}
    if declaration.needs_k:
        settings["k"] = Setting(k_rule(None), None, "size of the sets that it is made for")
    return settings


def check_data(settings: Any) -> dict[str, Any]:
    """The `data` section with its defaults. Raises ConfigError."""
    return _check_named("data", settings, lambda complete: DATASETS[complete["name"]].broken_rules(complete))


def check_model(settings: Any) -> dict[str, Any]:
    """The `model` section with its defaults. Raises ConfigError."""
    return _check_named("model", settings, lambda complete: MODELS[complete["name"]].contradictions(complete))


def check_loss(settings: Any, *, k: int | None, classes: int | None) -> dict[str, Any]:
    """The `loss` section with its defaults.

    Args:
        settings: ``name``, hyperparameters, and ``k`` for a loss that needs one.
        k: the loss's set size where `settings` has none; None: not known.
        classes: number of classes; None: not known.

    Raises:
        ConfigError: unknown loss or hyperparameter, values out of range.
    """
    name = _name("loss", settings)
    try:
        declaration = loss_declaration(name)
    except ValueError as error:
        raise ConfigError([Problem("loss.name", str(error))]) from None
    complete = declaration.defaults() | {key: value for key, value in settings.items() if key != "name"}
    if declaration.needs_k and k is not None:
        complete.setdefault("k", k)
    problems = []
    for key, value in complete.items():
        try:
            complete[key] = check_hyperparameter(name, key, value, classes)
        except ValueError as error:
            problems.append(Problem(f"loss.{key}", str(error)))
    if problems:
        raise ConfigError(problems)
    return {"name": name, **complete}


def check_hyperparameter(loss: str, name: str, value: Any, classes: int | None) -> Any:
    """One hyperparameter of a loss, its ``k`` included, in its own type.

    Raises:
        ValueError: the rule it breaks, without a subject.
    """
    known = declared_settings("loss", {"name": loss})
    if name not in known:
        raise ValueError(unknown("hyperparameter", name, known))
    return k_rule(classes).check(value) if name == "k" else known[name].check(value)


def num_classes(data: Mapping[str, Any]) -> int | None:
    """How many classes a complete `data` section has; None where only loading it tells."""
    classes: int | Callable[[Mapping[str, Any]], int] | None = setsweep.data.declaration_of(data).num_classes
    return classes(data) if callable(classes) else classes


@cache
def k_rule(classes: int | None) -> Rule:
    """What a set size must be, for that many classes."""
    return whole(1) if classes is None else whole(1, high=classes - 1, high_name="num_classes - 1")


def _check_named(
    section: str, settings: Any, contradictions: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]]
) -> dict[str, Any]:
    name = _name(section, settings)
    if name not in TABLES[section] and not is_own(name):
        raise ConfigError([Problem(f"{section}.name", unknown(KINDS[section], name, TABLES[section]))])
    if is_own(name):
        _check_own(section, settings)
    known = declared_settings(section, settings)
    problems = Problems()
    given = problems.values(section, {key: value for key, value in settings.items() if key != "name"}, known)
    problems.raise_any()
    complete = {"name": name, **{key: setting.default for key, setting in known.items()}, **given}
    for key, rule in () if is_own(name) else contradictions(complete):
        problems.add(f"{section}.{key}", rule)
    problems.raise_any()
    return complete


def _check_own(section: str, settings: Mapping[str, Any]) -> None:
    """A function of the user's takes plain data, as they stand; nothing is imported."""
    problems = Problems()
    if not FORM.fullmatch(settings["name"]):
        rule = f"must be a {KINDS[section]}'s name or package.module:function, got {settings['name']!r}."
        problems.add(f"{section}.name", rule)
    for key, value in settings.items():
        if not is_plain(value):
            problems.add(f"{section}.{key}", f"must be plain data, got {value!r}.")
    problems.raise_any()


def _name(section: str, settings: Any) -> str:
    if not isinstance(settings, Mapping):
        raise ConfigError([Problem(section, f"must be a mapping, got {settings!r}.")])
    name = settings.get("name")
    if not isinstance(name, str):
        raise ConfigError([Problem(f"{section}.name", f"must be a name, got {name!r}.")])
    return name
