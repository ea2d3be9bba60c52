"""Reads the `arms` of a study: each a loss with fixed and searched values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.data.user_function import is_own
from setsweep.losses.values import unknown
from setsweep.sweeps.study.rules import name_rule
from setsweep.sweeps.study.space import Space, is_space, read_space
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.text.findings import Findings
from setsweep.sweeps.study.training import TrainingBlock, read_training_space
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import check_hyperparameter, declared_settings
from setsweep.trainables.config.training import check_value


def read_arms(findings: Findings, training: TrainingBlock, searched: Mapping[str, Space], *, k: int) -> dict[str, Arm]:
    """The arms in the order of the file, those without an error.

    Args:
        findings: receives what is wrong.
        training: the study's.
        searched: what data, model and training search, by path; every arm does that does not say otherwise.
        k: the set size of losses that need one and whose arm gives none.
    """
    arms = _as_mapping(findings)
    read = (_read_arm(findings, name, settings, training, searched, k) for name, settings in arms.items())
    return {arm.name: arm for arm in read if arm is not None}


def _as_mapping(findings: Findings) -> Mapping[str, Any]:
    """The arms by name; a list of names is as good as a mapping of names to nothing."""
    source = findings.source
    arms = source.values.get("arms")
    if isinstance(arms, list) and all(isinstance(name, str) for name in arms):
        for index, name in enumerate(arms):
            if name in arms[:index]:
                findings.add(("arms", index), f"must name each loss once, got {name!r} again.")
            source.locations["arms", name] = source.where(("arms", index))
        arms = source.values["arms"] = {name: {} for name in arms}
    if not isinstance(arms, Mapping) or not arms:
        if "arms" in source.values:
            findings.add(("arms",), f"must be a mapping of losses to their hyperparameters, got {arms!r}.")
        return {}
    return arms


def _read_arm(
    findings: Findings, name: str, settings: Any, training: TrainingBlock, shared: Mapping[str, Space], k: int
) -> Arm | None:
    field = ("arms", name)
    if is_own(name):
        loss = f'{name.rpartition(":")[2]}: {{loss: "{name}"}}'
        findings.add(field, f"must be an arm's name, a loss of your own being the arm's loss ({loss}), got {name!r}.")
        return None
    findings.checked(field, name_rule("an arm's name").check, name)
    settings = {} if settings is None else settings
    if not isinstance(settings, Mapping):
        findings.add(field, f"must be a mapping of hyperparameters, got {settings!r}.")
        return None
    loss = settings.get("loss", name)
    try:
        declaration = loss_declaration(loss)
    except ValueError as error:
        findings.add((*field, "loss") if "loss" in settings else field, str(error))
        return None
    fixed: dict[str, Any] = {"loss.k": k} if declaration.needs_k else {}
    searched: dict[str, Space] = {}
    for key, value in settings.items():
        if key == "loss":
            continue
        path = key if key.startswith("training.") else f"loss.{key}"
        try:
            if is_space(value) and path != "loss.k":
                searched[path] = _read_space(loss, path, value, training)
            else:
                fixed[path] = _checked(loss, path, value)
        except ValueError as error:
            findings.add((*field, key), str(error))
    for path, space in shared.items():
        if path not in fixed:
            searched.setdefault(path, space)
    return Arm(name=name, loss=loss, fixed=fixed, searched=searched)


def _checked(loss: str, path: str, value: Any) -> Any:
    section, _, key = path.partition(".")
    if section == "training":
        return check_value(key, value)
    return check_hyperparameter(loss, key, value, classes=None)


def _read_space(loss: str, path: str, value: Any, training: TrainingBlock) -> Space:
    section, _, key = path.partition(".")
    if section == "training":
        if key not in TRAINING:
            raise ValueError(unknown("setting", key, TRAINING))
        return read_training_space(key, value, default=training.fixed.get(key, TRAINING[key].default))
    known = declared_settings("loss", {"name": loss})
    if key not in known:
        raise ValueError(unknown("hyperparameter", key, known))
    return read_space(value, known[key], default=known[key].default)
