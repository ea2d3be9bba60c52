"""Reads the `grid` of a study: the values of data, model, training and losses at which every arm is run.

A value of a loss concerns some arms alone: the others have the same runs at all points of it, which are trained once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from setsweep.losses.values import unknown
from setsweep.sweeps.study.design.addresses import Sections, check_for, is_known, known_paths, path_for
from setsweep.sweeps.study.design.configuration import NAMES, section_named
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.text.hints import unknown_field
from setsweep.trainables.config.sections import check_data, check_model
from setsweep.trainables.config.training import check_value
from setsweep.trainables.settings.problems import ConfigError, Problem

MAX_POINTS = 1000


def read_grid(
    findings: Findings, data: Mapping[str, Any], model: Mapping[str, Any], arms: Mapping[str, Arm]
) -> dict[str, tuple[Any, ...]]:
    """The legal values of each path, in their own types.

    Args:
        findings: receives what is wrong.
        data: the study's, complete.
        model: the study's, complete.
        arms: the study's, those without an error.
    """
    sections = {"data": data, "model": model}
    known = [*NAMES, *known_paths({}, sections)]
    grid: dict[str, tuple[Any, ...]] = {}
    for path, values in Section(findings, ("grid",)).values.items():
        if path in known:
            grid[path] = _read_values(findings, path, values, _checker(path, data, model))
        elif is_known(path, arms, sections):
            grid[path] = _read_values(findings, path, values, _checker_of_arms(path, arms, sections))
        elif _is_of_arms(findings, path):
            if not findings.within("arms"):  # else it may mean an arm that could not be read
                findings.add(("grid", path), unknown("hyperparameter", path, known_paths(arms, sections)))
        else:
            findings.add(("grid", path), unknown_field("grid field", path, known))
    points = math.prod(len(values) for values in grid.values())
    if points > MAX_POINTS:
        findings.add(("grid",), f"must have at most {MAX_POINTS} points, got {points}.")
    return {path: values for path, values in grid.items() if values}


def check_grid_alone(findings: Findings, grid: Mapping[str, Any], arms: Mapping[str, Arm]) -> None:
    """The grid says a value for every arm that it concerns, once, so none of these may fix or search it."""
    for arm in arms.values():
        said: dict[str, str] = {}
        for path in grid:
            meant = path_for(path, arm)
            own = ("arms", arm.name, (meant or path).removeprefix("loss."))
            if meant is None:
                continue
            if findings.source.has(own):
                findings.add(own, "must be left to the grid, which has it too.")
            elif meant in arm.searched:
                findings.add(("grid", path), "must be searched or in the grid, got both.")
            elif meant in said:
                findings.add(("grid", path), f"must be in the grid once for {arm.name}, got {said[meant]} as well.")
            said[meant] = path


def _is_of_arms(findings: Findings, path: str) -> bool:
    """Whether a path is spelled as one of a loss or of an arm."""
    arms = findings.source.values.get("arms")
    section = path.partition(".")[0]
    return section == "loss" or (isinstance(arms, Mapping) and section in arms)


def _read_values(findings: Findings, path: str, values: Any, check: Callable[[Any], Any]) -> tuple[Any, ...]:
    place = ("grid", path)
    if not isinstance(values, list) or not values:
        findings.add(place, f"must be a list of values, got {values!r}.")
        return ()
    legal: list[Any] = []
    for index, value in enumerate(values):
        try:
            checked = check(value)
        except ValueError as error:
            findings.add((*place, index), str(error))
            continue
        if any(repr(checked) == repr(other) for other in legal):
            findings.add((*place, index), f"must be a list of distinct values, got {value!r} again.")
        else:
            legal.append(checked)
    return tuple(legal)


def _checker_of_arms(path: str, arms: Mapping[str, Arm], sections: Sections) -> Callable[[Any], Any]:
    """The value must be legal for every arm that it concerns."""
    concerned = [(arm, own) for arm in arms.values() if (own := path_for(path, arm)) is not None]

    def checked(value: Any) -> Any:
        return [check_for(own, arm, value, sections) for arm, own in concerned][-1]

    return checked


def _rule(problem: Problem, path: str, value: Any) -> str:
    """The rule that a value breaks, with the field that it is broken at where that is another."""
    return problem.rule if problem.field == path else f"with {value!r}, {problem.field}: {problem.rule}"


def _checker(path: str, data: Mapping[str, Any], model: Mapping[str, Any]) -> Callable[[Any], Any]:
    section, _, key = path.partition(".")
    if section == "training":
        return lambda value: check_value(key, value)
    check, settings = (check_data, data) if section == "data" else (check_model, model)

    def checked(value: Any) -> Any:
        changed = section_named(section, settings, value) if path in NAMES else {**settings, key: value}
        try:
            return check(changed)[key]
        except ConfigError as error:
            raise ValueError(_rule(error.problems[0], path, value)) from None

    return checked
