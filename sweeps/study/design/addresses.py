"""Where the paths of a grid and of a sensitivity study lead: one path may mean something to some arms alone.

``data.x``, ``model.x`` and ``training.x`` mean the same for every arm; ``loss.x`` is the hyperparameter x of every arm
whose loss has one, ``ARM.x`` that of one arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.losses.values import unknown
from setsweep.sweeps.study.study import Arm, Point
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import check_hyperparameter, declared_settings
from setsweep.trainables.config.training import check_value
from setsweep.trainables.settings.setting import Setting

SHARED = ("data", "model", "training")
Sections = Mapping[str, Mapping[str, Any]]
"""The `data` and `model` of a study, complete, by these names; a section that is broken is left out."""


def path_for(path: str, arm: Arm) -> str | None:
    """What a path of a study is in the configuration of an arm's runs; None where it does not concern the arm."""
    section, _, name = path.partition(".")
    if section in SHARED:
        return path
    if section == "loss":
        return path if name in declared_settings("loss", {"name": arm.loss}) else None
    if section != arm.name:
        return None
    return name if name.startswith("training.") else f"loss.{name}"


def point_for(point: Point, arm: Arm) -> dict[str, Any]:
    """What a point of the grid says of an arm, by path in the configuration of its runs."""
    found = ((path_for(path, arm), value) for path, value in point.items())
    return {path: value for path, value in found if path is not None}


def setting_of(path: str, arm: Arm, sections: Sections) -> Setting:
    """The row of a value by its path in the configuration of an arm's runs, which must be known."""
    return _settings(path, arm, sections)[path.partition(".")[2]]


def check_for(path: str, arm: Arm, value: Any, sections: Sections) -> Any:
    """The value in its own type. Raises ValueError: the rule that it breaks, without a subject."""
    section, _, name = path.partition(".")
    if section == "loss":
        return check_hyperparameter(arm.loss, name, value, None)
    return check_value(name, value) if section == "training" else setting_of(path, arm, sections).check(value)


def known_paths(arms: Mapping[str, Arm], sections: Sections) -> list[str]:
    """Every path that means something to some of these arms, names of data and model left out."""
    own = {arm.name: [*declared_settings("loss", {"name": arm.loss})] for arm in arms.values()}
    shared = {name for names in own.values() for name in names}
    paths = [f"{arm}.{name}" for arm, names in own.items() for name in names]
    named = [f"{each}.{name}" for each, values in sections.items() for name in declared_settings(each, values)]
    return [*named, *(f"training.{path}" for path in TRAINING), *(f"loss.{name}" for name in sorted(shared)), *paths]


def is_known(path: str, arms: Mapping[str, Arm], sections: Sections) -> bool:
    """Whether a path means something to some of these arms."""
    concerned = [(arm, path_for(path, arm)) for arm in arms.values()]
    return any(own.partition(".")[2] in _settings(own, arm, sections) for arm, own in concerned if own is not None)


def refuse_unknown(path: str, arms: Mapping[str, Arm], sections: Sections) -> None:
    """Raise ValueError for a path that means nothing; says which there are."""
    if not is_known(path, arms, sections):
        raise ValueError(unknown("hyperparameter", path, known_paths(arms, sections)))


def _settings(path: str, arm: Arm, sections: Sections) -> Mapping[str, Setting]:
    """The rows of the section that a path of an arm's runs leads into, by name."""
    section = path.partition(".")[0]
    if section == "training":
        return TRAINING
    if section == "loss":
        return declared_settings("loss", {"name": arm.loss})
    return declared_settings(section, sections[section]) if section in sections else {}
