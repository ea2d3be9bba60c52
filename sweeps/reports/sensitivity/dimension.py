"""One hyperparameter that was varied: its values on the declared scale, its default and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.sensitivity.scale import Scale
from setsweep.sweeps.study.design.addresses import point_for, setting_of
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Point, Study


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """One hyperparameter that was varied.

    Args:
        name: as parameters have it: "alpha", "training.batch_size".
        values: tried, in the order of the scale; of a search those that its trials had.
        scale: the declared one.
        default: where nothing is said; None: not known.
        chosen: by the search; None: nothing was searched.
    """

    name: str
    values: tuple[Any, ...]
    scale: Scale
    default: Any
    chosen: Any


def dimension(report: Report, arm: Arm, point: Point, path: str, values: tuple[Any, ...], scale: Scale) -> Dimension:
    """The hyperparameter of an arm at that path in the configuration of its runs."""
    default, chosen = _default(report.study, arm, point, path), _chosen(report, arm, point, path)
    return Dimension(name=name_of(path), values=values, scale=scale, default=default, chosen=chosen)


def name_of(path: str) -> str:
    """As parameters have it."""
    return path.removeprefix("loss.")


def _default(study: Study, arm: Arm, point: Point, path: str) -> Any:
    """The value of the arm where nothing is varied."""
    said = {**arm.fixed, **point_for(point, arm), **arm.default}
    if path in said:
        return said[path]
    if path.startswith("training."):
        value: Any = study.training
        for name in path.removeprefix("training.").split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return setting_of(path, arm, {}).default if value is None else value
    section, _, name = path.partition(".")
    return setting_of(path, arm, {}).default if section == "loss" else vars(study)[section][name]


def _chosen(report: Report, arm: Arm, point: Point, path: str) -> Any:
    """What the search has chosen; None where the arm does not search it, or has not chosen yet."""
    if path not in arm.searched:
        return None
    choices = (each for each in report.chosen if each.arm == arm.name and each.point == point)
    return next((each.params.get(path.removeprefix("loss.")) for each in choices), None)


def scale_in(space: Space) -> Scale:
    """The scale that a search declares; of a choice the order of the study, of numbers alone the ascending one."""
    if space.low is None or space.high is None:
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in space.choices)
        return Scale(kind="order", values=tuple(sorted(space.choices)) if numbers else space.choices)
    return Scale(kind="log" if space.kind.startswith("log") else "linear", low=space.low, high=space.high)


def in_order(values: set[Any], scale: Scale) -> tuple[Any, ...]:
    """In the order of the scale, on which all of them lie."""
    return tuple(sorted(values, key=scale.position))
