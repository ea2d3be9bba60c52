"""Reads the `sensitivity` of a study: which hyperparameters are varied, over which values, with which seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.study.design.addresses import Sections, path_for
from setsweep.sweeps.study.design.axes import read_axis
from setsweep.sweeps.study.design.layout import MAX_COMBINATIONS, axes_of
from setsweep.sweeps.study.protocol import first_seeds, seeds_rule
from setsweep.sweeps.study.study import Arm, Search
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.varied import Sensitivity
from setsweep.trainables.settings.rules import one_of, whole
from setsweep.trainables.settings.setting import Setting

SENSITIVITY = {
    "seeds": Setting(seeds_rule(0), first_seeds(0, 5), "the same for every configuration"),
    "at": Setting(one_of("chosen", "default"), "chosen", "where everything else stands that is searched"),
    "points": Setting(whole(2, high=MAX_COMBINATIONS), 64, "of a Sobol sequence, for three hyperparameters or more"),
}
"""The fields of `sensitivity` beside the hyperparameters."""


def read_sensitivity(
    findings: Findings, arms: Mapping[str, Arm], sections: Sections, grid: Mapping[str, Any], search: Search | None
) -> Sensitivity | None:
    """The sensitivity study, or None where the study has none.

    Args:
        findings: receives what is wrong.
        arms: the study's, those without an error.
        sections: of the study.
        grid: the study's.
        search: the study's, whose seeds are not used again.
    """
    if findings.source.values.get("sensitivity") is None:
        return None
    section = Section(findings, ("sensitivity",))
    settings = {name: section.read(name, setting) for name, setting in SENSITIVITY.items()}
    paths = [path for path in section.values if path not in SENSITIVITY]
    if not paths:
        findings.add(("sensitivity",), "must name a hyperparameter, as in ARM.alpha: 9, got none.")
    axes = [read_axis(findings, path, section.values[path], arms, sections) for path in paths]
    found = Sensitivity(axes=tuple(axis for axis in axes if axis is not None), **settings)
    _check_seeds(findings, found, arms, search)
    _check_alone(findings, found, arms, grid)
    return found


def _check_seeds(findings: Findings, found: Sensitivity, arms: Mapping[str, Arm], search: Search | None) -> None:
    """Intervals need two seeds, and what is chosen is shown on seeds that did not choose it."""
    place = ("sensitivity", "seeds")
    if len(found.seeds) < 2:
        findings.add(place, f"must be 2 seeds or more, as intervals are over seeds, got {len(found.seeds)}.")
    if search is None:
        return
    used = {seed for arm in arms.values() for seed in search.seeds_of(arm)} | {*search.first_seeds(search.race or 0)}
    twice = [seed for seed in found.seeds if seed in used]
    if twice:
        findings.add(place, f"must be fresh, none of those of the search, got {twice} in both.")


def _check_alone(findings: Findings, found: Sensitivity, arms: Mapping[str, Arm], grid: Mapping[str, Any]) -> None:
    """What is varied is not in the grid, is said once for every arm, and makes a bearable number of configurations."""
    for arm in arms.values():
        in_grid = {path_for(path, arm) for path in grid}
        said: dict[str, str] = {}
        for axis in found.axes:
            meant = path_for(axis.path, arm)
            if meant is None:
                continue
            place = ("sensitivity", axis.path)
            if meant in in_grid:
                findings.add(place, "must be in the grid or varied here, got both.")
            if meant in said:
                findings.add(place, f"must be given once for {arm.name}, got {said[meant]} as well.")
            said[meant] = axis.path
        sizes = [len(axis.values) for axis in axes_of(found, arm).values()]
        if len(sizes) < 3 and math.prod(sizes) > MAX_COMBINATIONS:
            rule = f"must have at most {MAX_COMBINATIONS} combinations of {arm.name}, got {math.prod(sizes)}."
            findings.add(("sensitivity",), rule)
    several = any(len(axes_of(found, arm)) > 2 for arm in arms.values())
    if not several and findings.source.has(("sensitivity", "points")):
        rule = f"must be left out where no arm has three hyperparameters to vary, got {found.points}."
        findings.add(("sensitivity", "points"), rule)
