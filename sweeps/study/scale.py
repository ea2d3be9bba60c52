"""The small form of a study: fields that stand in the place of its own where it is run with ``scale: small``.

A field of `small` replaces the study's field of that name whole, so that what is read there is what is run. The form is
a study of its own, ``NAME-small``, with the published numbers of what it has in common with the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from setsweep.losses.values import unknown
from setsweep.sweeps.study.text.errors import StudyError, error_line
from setsweep.sweeps.study.text.source import Source
from setsweep.trainables.evaluation.metric import Metric
from setsweep.trainables.settings.rules import listed, one_of, text
from setsweep.trainables.settings.setting import Setting
from setsweep.trainables.settings.yaml_text import Path

SCALE = Setting(one_of("full", "small"), "full", "whether the study itself is run or its small form")
REPRODUCES = Setting(listed(text(), distinct=True), (), "tables and figures of papers that the study repeats")
LEAVES_OUT = Setting(text(), "", "what is left out of what a paper has done; a small form must say it")
REPLACEABLE = (
    *("data", "model", "training", "k", "arms", "grid", "search", "confirm", "sensitivity"),
    *("coverage", "conformal", "compare", "keep", "resources", "leaves_out"),
)
SUFFIX = "-small"


def is_about_scale(assignment: str) -> bool:
    """Whether an override says which form is run, or changes the small one: what must be known before all else."""
    return assignment.partition("=")[0].strip().partition(".")[0] in ("scale", "small")


def scaled(source: Source) -> Source:
    """What is to be read: the study, or the small form of it.

    Raises:
        StudyError: another scale, or a small form that there is none of or that is none.
    """
    try:
        scale = SCALE.check(source.values.get("scale", "full"))
    except ValueError as error:
        raise _error(source, ("scale",), str(error)) from None
    if scale == "full":
        return source
    if not source.values.get("small"):
        raise _error(source, ("scale",), "must be full in a study that has no small form, got 'small'.")
    return small_form(source)


def small_form(source: Source) -> Source:
    """The small form of a study that has one, as a study. Raises StudyError: `small` is none."""
    small = source.values["small"]
    if not isinstance(small, Mapping):
        raise _error(source, ("small",), f"must be a mapping of fields, got {small!r}.")
    errors = [_error(source, ("small", name), unknown("field of a small form", name, REPLACEABLE)) for name in small]
    wrong = [error for name, error in zip(small, errors, strict=True) if name not in REPLACEABLE]
    if "leaves_out" not in small:
        wrong.append(_error(source, ("small",), "must say what it leaves out (leaves_out), got nothing."))
    if wrong:
        raise StudyError(line for error in wrong for line in error.errors)
    values = {name: each for name, each in source.values.items() if name not in ("scale", "small")}
    values |= {**small, "study": f"{values.get('study', '')}{SUFFIX}"}
    form = Source(values, _locations(source, small))
    leave_out_published(form)
    return form


def leave_out_published(source: Source) -> None:
    """Take out the published numbers of arms, points and set sizes that a form or an override of a study has not."""
    given = source.values.get("published")
    if isinstance(given, list):
        source.values["published"] = list(_in_common(given, source.values))


def _locations(source: Source, small: Iterable[str]) -> dict[Path, Any]:
    """Where values stand; errors of those of the small form name them below `small`."""
    own = {
        path[1:]: dataclasses.replace(where, below=("small",))
        for path, where in source.locations.items()
        if path[:1] == ("small",) and len(path) > 1
    }
    replaced = {*small, "scale", "small"}
    return {path: where for path, where in source.locations.items() if not path or path[0] not in replaced} | own


def _in_common(tables: list[Any], values: Mapping[str, Any]) -> Iterable[Any]:
    """The tables with what of them there is; what is broken is left for reading to tell."""
    arms, grid, k = values.get("arms") or {}, values.get("grid") or {}, values.get("k")
    sizes = k if isinstance(k, list) else [k]
    for table in tables:
        found = table if isinstance(table, Mapping) else {}
        point, metric = found.get("point") or {}, Metric.find(str(found.get("metric")))
        whole = (grid, point, found.get("values"))
        if metric is None or not all(isinstance(each, Mapping) for each in whole):
            yield table
            continue
        numbers = {arm: each for arm, each in found["values"].items() if arm in arms}
        if numbers and metric.k in (*sizes, None) and _is_of(point, grid):
            yield {**found, "values": numbers}


def _is_of(point: Mapping[str, Any], grid: Mapping[str, Any]) -> bool:
    """Whether a point of the grid is said in full, by its own values."""
    return point.keys() == grid.keys() and all(point[path] in (grid[path] or ()) for path in grid)


def _error(source: Source, path: Path, rule: str) -> StudyError:
    return StudyError([error_line(source.where(path), path, rule)])
