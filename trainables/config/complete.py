"""Checks a run configuration as a whole and fills in every default.

So a value left out and the same value spelled out give the same run key.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from setsweep.data import DATASETS, complete_data, declaration_of
from setsweep.data.user_function import is_own
from setsweep.losses import LOSSES
from setsweep.losses.declaration import LossDeclaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.training import check_for_loss, check_training
from setsweep.trainables.models.table import MODELS, complete_model
from setsweep.trainables.settings.problems import ConfigError, Problem, unknown
from setsweep.trainables.settings.rules import Rule, flag, whole

_FIELDS = ("data", "model", "loss", "training", "k", "seed", "test")
_SEED = whole(0, high=2**63 - 1)

T = TypeVar("T")


def complete_config(plain: Mapping[str, Any]) -> RunConfig:
    """The run configuration in its own types, every default filled in.

    Args:
        plain: nested plain data as in a configuration file. Needed are `data`, `model` and `loss`, each with a
            ``name``, and `k`; the default seed is 0.

    Raises:
        ConfigError: every rule that is broken, e.g. "training.epochs must be >= 1, got 0."
    """
    problems = [Problem(str(field), unknown("field", field, _FIELDS)) for field in plain if field not in _FIELDS]

    def part(check: Callable[[], T]) -> T | None:
        try:
            return check()
        except ConfigError as error:
            problems.extend(error.problems)
            return None

    data = part(lambda: check_data(_given(plain, "data")))
    classes = num_classes(data) if data else None
    model = part(lambda: check_model(_given(plain, "model")))
    k = part(lambda: check_k(_given(plain, "k"), classes))
    loss = part(lambda: check_loss(_given(plain, "loss"), k=k[0] if k else None, classes=classes))
    training = part(lambda: check_training(_mapping("training", plain.get("training", {}))))
    seed = part(lambda: check_field("seed", _SEED, plain.get("seed", 0)))
    test = part(lambda: check_field("test", flag(), plain.get("test", True)))
    if loss and training:
        part(lambda: check_for_loss(training, LOSSES[loss["name"]]))
    if problems:
        raise ConfigError(problems)
    parts: Any = {"data": data, "model": model, "loss": loss, "training": training, "k": k, "seed": seed, "test": test}
    return RunConfig(**parts)


def check_data(settings: Any) -> dict[str, Any]:
    """The `data` section with its defaults. Raises ConfigError."""
    return _check_named("data", "data set", settings, DATASETS, complete_data)


def check_model(settings: Any) -> dict[str, Any]:
    """The `model` section with its defaults. Raises ConfigError."""
    return _check_named("model", "model", settings, MODELS, complete_model)


def num_classes(data: Mapping[str, Any]) -> int | None:
    """How many classes a complete `data` section has; None where only loading it tells."""
    classes: int | Callable[[Mapping[str, Any]], int] | None = declaration_of(data).num_classes
    return classes(data) if callable(classes) else classes


def k_rule(classes: int | None) -> Rule:
    """What a set size must be, for that many classes."""
    return whole(1) if classes is None else whole(1, high=classes - 1, high_name="num_classes - 1")


def check_k(value: Any, classes: int | None) -> tuple[int, ...]:
    """The set sizes to report: one, or an ascending list. Raises ConfigError."""
    sizes = value if isinstance(value, list | tuple) else [value]
    if not sizes:
        raise ConfigError([Problem("k", "must be a whole number or a list of some, got [].")])
    checked = tuple(check_field("k", k_rule(classes), size) for size in sizes)
    if any(after <= before for before, after in itertools.pairwise(checked)):
        raise ConfigError([Problem("k", f"must be ascending, got {list(checked)}.")])
    return checked


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
    if name not in LOSSES:
        raise ConfigError([Problem("loss.name", unknown("loss", name, LOSSES))])
    declaration = LOSSES[name]
    given = {key: value for key, value in settings.items() if key != "name"}
    complete = declaration.defaults() | given
    if declaration.needs_k and k is not None:
        complete.setdefault("k", k)
    checked: dict[str, Any] = {"name": name}
    problems = []
    for key, value in complete.items():
        try:
            checked[key] = check_hyperparameter(declaration, key, value, classes)
        except ValueError as error:
            problems.append(Problem(f"loss.{key}", str(error)))
    if problems:
        raise ConfigError(problems)
    return checked


def check_hyperparameter(declaration: LossDeclaration, name: str, value: Any, classes: int | None) -> Any:
    """One hyperparameter of a loss, its ``k`` included, in its own type.

    Raises:
        ValueError: the rule it breaks, without a subject.
    """
    if name == "k" and declaration.needs_k:
        return k_rule(classes).check(value)
    if name not in declaration.hyperparameters:
        known = [*declaration.hyperparameters, *(["k"] if declaration.needs_k else [])]
        raise ValueError(unknown("hyperparameter", name, known))
    try:
        return declaration.hyperparameters[name].check(name, value)
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{name} ")) from None


def check_field(field: str, rule: Rule, value: Any) -> Any:
    """The value by a rule. Raises ConfigError naming the field."""
    try:
        return rule.check(value)
    except ValueError as error:
        raise ConfigError([Problem(field, str(error))]) from None


def _check_named(
    section: str,
    kind: str,
    settings: Any,
    table: Mapping[str, Any],
    complete: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    name = _name(section, settings)
    if name not in table and not is_own(name):
        raise ConfigError([Problem(f"{section}.name", unknown(kind, name, table))])
    parameters = settings if is_own(name) else table[name].parameters
    strangers = [key for key in settings if key != "name" and key not in parameters]
    if strangers:
        raise ConfigError(Problem(f"{section}.{key}", unknown("setting", key, parameters)) for key in strangers)
    try:
        return complete(settings)
    except ValueError as error:
        raise ConfigError([Problem.from_message(section, str(error), parameters)]) from None


def _name(section: str, settings: Any) -> str:
    name = _mapping(section, settings).get("name")
    if not isinstance(name, str):
        raise ConfigError([Problem(f"{section}.name", f"must be a name, got {name!r}.")])
    return name


def _mapping(section: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError([Problem(section, f"must be a mapping, got {value!r}.")])
    return value


def _given(plain: Mapping[str, Any], field: str) -> Any:
    if field not in plain:
        raise ConfigError([Problem(field, "must be given, got nothing.")])
    return plain[field]
