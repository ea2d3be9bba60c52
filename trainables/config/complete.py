"""Checks a run configuration as a whole and fills in every default.

So a value left out and the same value spelled out give the same run key.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from setsweep.data.user_function import FORM
from setsweep.losses.values import unknown
from setsweep.trainables.config.coverage import check_sets
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.sections import check_data, check_loss, check_model, k_rule, num_classes
from setsweep.trainables.config.stopping import check_stopping
from setsweep.trainables.config.training import check_for_loss, check_training, with_settings
from setsweep.trainables.settings.problems import ConfigError, Problem, Problems
from setsweep.trainables.settings.rules import Rule, flag, listed, spelled, whole

T = TypeVar("T")

_FIELDS = ("data", "model", "loss", "training", "k", "seed", "test", "coverage", "conformal", "metrics", "stopping")

SEED = whole(0, high=2**63 - 1)
METRICS = listed(spelled(FORM.pattern, "package.module:function"), distinct=True)

_MOST_PASSED = 1000
_PASSED: dict[tuple[str, str], Any] = {}


def complete_config(plain: Mapping[str, Any]) -> RunConfig:
    """The run configuration in its own types, every default filled in.

    Args:
        plain: nested plain data as in a configuration file. Needed are `data`, `model` and `loss`, each with a
            ``name``, and `k`; the default seed is 0.

    Raises:
        ConfigError: every rule that is broken, e.g. "training.epochs must be >= 1, got 0."
    """
    problems = Problems()
    for field in plain:
        if field not in _FIELDS:
            problems.add(str(field), unknown("field", field, _FIELDS))
    part = problems.gathered
    data = part(lambda: dict(_checked_once(check_data, _given(plain, "data"))))
    classes = num_classes(data) if data else None
    model = part(lambda: dict(_checked_once(check_model, _given(plain, "model"))))
    k = part(lambda: _checked_once(check_k, _given(plain, "k"), classes))
    loss = part(lambda: check_loss(_given(plain, "loss"), k=k[0] if k else None, classes=classes))
    training = part(lambda: _checked_once(check_training, _mapping("training", plain.get("training", {}))))
    seed = part(lambda: _checked("seed", SEED, plain.get("seed", 0)))
    test = part(lambda: _checked("test", flag(), plain.get("test", True)))
    sets = part(lambda: check_sets(plain))
    metrics = part(lambda: _checked("metrics", METRICS, plain.get("metrics", ())))
    stopping = part(lambda: check_stopping(plain.get("stopping")))
    if loss and training:
        part(lambda: check_for_loss(training, loss_declaration(loss["name"])))
    problems.raise_any()
    parts: Any = {"data": data, "model": model, "loss": loss, "training": training, "k": k, "seed": seed, "test": test}
    return RunConfig(**parts, **(sets or {}), metrics=metrics, stopping=stopping)  # type: ignore[arg-type]  # checked above


def with_hyperparameters(config: RunConfig, loss: Mapping[str, Any]) -> RunConfig:
    """A complete configuration with other hyperparameters of its loss: what `complete_config` would make of it.

    Nothing else is checked again, which is most of the work.

    Args:
        config: complete.
        loss: as in a configuration file; its name is that of `config`.

    Raises:
        ConfigError: every rule that is broken.
    """
    assert loss["name"] == config.loss["name"], "another loss may ask for another training"
    return config.with_loss(check_loss(loss, k=config.k[0], classes=num_classes(config.data)))


def with_training(config: RunConfig, changed: Mapping[str, Any]) -> RunConfig:
    """A complete configuration with other settings of its training: what `complete_config` would make of it.

    Args:
        config: complete; its training follows no preset.
        changed: settings of `training` by dotted path, e.g. "optimizer.lr".

    Raises:
        ConfigError: every rule that is broken.
    """
    training = with_settings(config.training, changed)
    check_for_loss(training, loss_declaration(config.loss["name"]))
    return config.with_training(training)


def with_values(plain: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with some values put in; that given stays as it is.

    Args:
        plain: nested plain data, see `complete_config`; need not be complete.
        values: by dotted path, e.g. "training.optimizer.lr"; sections that are not there are made.

    Raises:
        ConfigError: a path that leads into something that is no mapping.
    """
    filled = dict(plain)
    for path, value in values.items():
        *sections, last = path.split(".")
        parent: Any = filled
        for depth, section in enumerate(sections, 1):
            # What lies on the way is copied, and the rest shared: neither is changed in `plain`.
            parent[section] = dict(_mapping(".".join(sections[:depth]), parent.get(section, {})))
            parent = parent[section]
        parent[last] = value
    return filled


def check_k(value: Any, classes: int | None) -> tuple[int, ...]:
    """The set sizes to report: one, or an ascending list. Raises ConfigError."""
    sizes = value if isinstance(value, list | tuple) else [value]
    if not sizes:
        raise ConfigError([Problem("k", "must be a whole number or a list of some, got [].")])
    checked = tuple(_checked("k", k_rule(classes), size) for size in sizes)
    if any(after <= before for before, after in itertools.pairwise(checked)):
        raise ConfigError([Problem("k", f"must be ascending, got {list(checked)}.")])
    return checked


def _checked_once(check: Callable[..., T], section: Any, *others: Any) -> T:
    """What a check makes of a section, remembered: a study has thousands of runs and few sections.

    Only what passes is remembered, which is plain data, and of that the same text means the same.
    """
    same = check.__name__, repr((section, *others))
    if same not in _PASSED:
        if len(_PASSED) >= _MOST_PASSED:
            _PASSED.clear()
        _PASSED[same] = check(section, *others)
    passed: T = _PASSED[same]
    return passed


def _checked(field: str, rule: Rule, value: Any) -> Any:
    try:
        return rule.check(value)
    except ValueError as error:
        raise ConfigError([Problem(field, str(error))]) from None


def _mapping(section: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError([Problem(section, f"must be a mapping, got {value!r}.")])
    return value


def _given(plain: Mapping[str, Any], field: str) -> Any:
    if field not in plain:
        raise ConfigError([Problem(field, "must be given, got nothing.")])
    return plain[field]
