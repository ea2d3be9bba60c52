"""Checks the runs of a study before any is trained: what is legal by itself may not be so together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setsweep.sweeps.study.design.addresses import path_for
from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.design.layout import axes_of
from setsweep.sweeps.study.protocol import searched_field
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Point, Study
from setsweep.sweeps.study.text.findings import Findings
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.settings.problems import ConfigError
from setsweep.trainables.settings.yaml_text import Path


def check_points(findings: Findings, study: Study) -> None:
    """Check every arm at every point; at the first with each end of its search spaces and each value of an axis."""
    for number, point in enumerate(study.points()):
        for arm in study.arms.values():
            defaults = {path: space.default for path, space in arm.searched.items()}
            _check(findings, study, arm, point, defaults)
            for path, value in (*_ends(arm.searched), *_varied(study, arm)) if number == 0 else ():
                _check(findings, study, arm, point, {**defaults, path: value})


def _check(findings: Findings, study: Study, arm: Arm, point: Point, values: Mapping[str, Any]) -> None:
    try:
        complete_config(plain_config(study, arm, point, values, seed=0, test=False))
    except ConfigError as error:
        for problem in error.problems:
            findings.add(_field(findings, study, arm, point, problem.field), problem.rule)


def _ends(searched: Mapping[str, Space]) -> Iterator[tuple[str, Any]]:
    for path, space in searched.items():
        for value in space.choices or (space.low, space.high):
            yield path, value


def _varied(study: Study, arm: Arm) -> Iterator[tuple[str, Any]]:
    axes = {} if study.sensitivity is None else axes_of(study.sensitivity, arm)
    for path, axis in axes.items():
        for value in axis.values:
            yield path, value


def _field(findings: Findings, study: Study, arm: Arm, point: Point, field: str) -> Path:
    """The field of the study that a field of a run's configuration comes from."""
    for path in point:
        if path_for(path, arm) == field:
            return ("grid", path, study.grid[path].index(point[path]))
    for axis in () if study.sensitivity is None else study.sensitivity.axes:
        if path_for(axis.path, arm) == field:
            return ("sensitivity", axis.path)
    if field == "k" or (field == "loss.k" and not findings.source.has(("arms", arm.name, "k"))):
        return ("k",)
    if field.startswith("loss."):
        return ("arms", arm.name, field.removeprefix("loss."))
    return searched_field(findings, arm, field)
