"""Reads the values of one hyperparameter of a sensitivity study: a number of them on its declared scale, or a list."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from setsweep.losses.values import as_number
from setsweep.sweeps.study.design.addresses import SHARED, Sections, check_for, path_for, refuse_unknown, setting_of
from setsweep.sweeps.study.space import Space, read_space
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.text.findings import Findings
from setsweep.sweeps.study.varied import Axis
from setsweep.trainables.settings.rules import whole
from setsweep.trainables.settings.setting import Setting

MOST_VALUES = 101
_DIGITS = 3  # significant ones of values on a grid, so that they can be read and said again

VALUES = Setting(whole(2, high=MOST_VALUES), None, "a number of values on the declared scale, or a list of values")


def read_axis(findings: Findings, path: str, given: Any, arms: Mapping[str, Arm], sections: Sections) -> Axis | None:
    """The values of a path of the study; None where something is wrong with them.

    Args:
        findings: receives what is wrong.
        path: as the study has it.
        given: a number of values, or a list of them.
        arms: the study's, those without an error.
        sections: of the study.
    """
    place = ("sensitivity", path)
    try:
        refuse_unknown(path, arms, sections)
    except ValueError as error:
        if path.partition(".")[0] in SHARED or not findings.within("arms"):  # else it may mean an arm with an error
            findings.add(place, str(error))
        return None
    concerned = [(arm, own) for arm in arms.values() if (own := path_for(path, arm)) is not None]
    if isinstance(given, list):
        values = _listed(findings, path, given, concerned, sections)
        spaces = [setting_of(own, arm, sections).search for arm, own in concerned]
        declared = spaces[0] is not None and next(iter(spaces[0])).startswith("log")
        return Axis(path=path, values=values, log=is_logarithmic(values, declared=declared)) if values else None
    try:
        count = VALUES.check(given)
        space = _range(path, concerned, sections)
        values = _even(space, count, whole=setting_of(concerned[0][1], concerned[0][0], sections).rule.type == "whole")
        for arm, own in concerned:
            values = tuple(check_for(own, arm, value, sections) for value in values)
    except ValueError as error:
        findings.add(place, str(error))
        return None
    return Axis(path=path, values=values, log=space.kind.startswith("log"))


def _listed(
    findings: Findings, path: str, given: Sequence[Any], concerned: Sequence[tuple[Arm, str]], sections: Sections
) -> tuple[Any, ...]:
    """The values of a list, numbers in ascending order; empty where one is wrong."""
    legal: list[Any] = []
    for index, value in enumerate(given):
        try:
            legal.append(_single(value, concerned, legal, sections))
        except ValueError as error:
            findings.add(("sensitivity", path, index), str(error))
    if len(given) < 2:
        findings.add(("sensitivity", path), f"must be two values or more, got {list(given)!r}.")
    if len(given) < 2 or len(legal) < len(given):
        return ()
    numbers = all(_as_number(value) is not None for value in legal)
    return tuple(sorted(legal)) if numbers else tuple(legal)


def _single(value: Any, concerned: Sequence[tuple[Arm, str]], before: Sequence[Any], sections: Sections) -> Any:
    """A value that every arm may have, and none that was given before. Raises ValueError: the rule that it breaks."""
    checked = [check_for(own, arm, value, sections) for arm, own in concerned][-1]
    if isinstance(checked, list | tuple):
        raise ValueError(f"must be a single value, got {value!r}.")  # noqa: TRY004  # an error in a study
    if any(repr(checked) == repr(other) for other in before):
        raise ValueError(f"must be a list of distinct values, got {value!r} again.")
    return checked


def _range(path: str, concerned: Sequence[tuple[Arm, str]], sections: Sections) -> Space:
    """The range that a number of values is laid on: that of the arm's search, else the declared one.

    Raises:
        ValueError: there is none, or several arms have different ones.
    """
    found = []
    for arm, own in concerned:
        setting = setting_of(own, arm, sections)
        if own in arm.searched:
            found.append(arm.searched[own])
        elif setting.search is not None:
            found.append(read_space("default_space", setting, default=setting.default))
    ranges = {(space.kind, space.low, space.high) for space in found if space.low is not None}
    if len(found) < len(concerned) or any(space.low is None for space in found):
        raise ValueError(f"must be a list of values, as {path} has no range to lay a grid on.")
    if len(ranges) > 1:
        raise ValueError(f"must be a list of values, as arms have different ranges of {path}.")
    return found[0]


def _even(space: Space, count: int, *, whole: bool) -> tuple[Any, ...]:
    """So many values from one end of a range to the other, at equal steps on its scale.

    Raises:
        ValueError: it has fewer whole numbers than that.
    """
    import numpy as np

    assert space.low is not None
    assert space.high is not None
    spread = np.geomspace if space.kind.startswith("log") else np.linspace
    inner = [float(f"{value:.{_DIGITS}g}") for value in spread(space.low, space.high, count)[1:-1].tolist()]
    values = [space.low, *inner, space.high]
    if whole:
        values = [*dict.fromkeys(round(value) for value in values)]
    if len(set(values)) < count:
        between = f"[{space.low:g}, {space.high:g}] at equal steps"
        raise ValueError(f"must be at most the {len(set(values))} whole values of {between}, got {count}.")
    return tuple(values)


def is_logarithmic(values: Sequence[Any], *, declared: bool = False) -> bool:
    """Whether values stand on a logarithmic scale: declared so, or their ratios are more even than their differences.

    Args:
        values: numbers; others stand on none.
        declared: whether the hyperparameter is searched on a logarithmic scale.
    """
    numbers = [_as_number(value) for value in values]
    known = sorted(number for number in numbers if number is not None)
    if len(known) < len(numbers) or known[0] < 0:
        return False
    if declared:
        return known[-1] > 0
    if known[0] == 0 or len(known) < 3:
        return False
    steps = [after - before for before, after in itertools.pairwise(known)]
    ratios = [math.log(after / before) for before, after in itertools.pairwise(known)]
    return max(ratios) / min(ratios) < max(steps) / min(steps)


def _as_number(value: Any) -> float | None:
    return None if isinstance(value, str | bool) else as_number(value)
