"""Reads `published`: numbers that a paper has printed, to be held beside those of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from setsweep.losses.values import as_number, unknown
from setsweep.sweeps.study.rules import metrics_rule, objective_rule
from setsweep.sweeps.study.text.findings import Findings
from setsweep.trainables.evaluation.metric import Metric
from setsweep.trainables.settings.rules import Rule, anything, one_of, text, whole
from setsweep.trainables.settings.setting import Setting

Spread = Literal["ci", "sd"]
POINTS = 100  # to a whole: papers print percent


@dataclass(frozen=True, kw_only=True)
class Published:
    """One number of a paper.

    Args:
        where: the paper and its table or figure.
        arm, point: of the study, that it is to be held against.
        metric: of the study.
        mean: in record units: a share where the metric is an accuracy.
        spread: what the paper prints behind ±, in the same unit; None: nothing.
        kind: what the spread is: "ci", half of a 95 % interval, or "sd", a standard deviation over seeds.
        seeds: that it is the mean of; None: the paper doesn't say.
    """

    where: str
    arm: str
    point: Mapping[str, Any]
    metric: str
    mean: float
    spread: float | None
    kind: Spread
    seeds: int | None


def published_settings(ks: Sequence[int]) -> dict[str, Setting]:
    """The fields of an entry of `published`."""
    metrics, on_validation = metrics_rule(ks), objective_rule(ks)

    def metric(value: object) -> str:
        if str(value).startswith("val/"):
            return str(on_validation.check(value))
        return str(metrics.check([value])[0])

    item = {"anyOf": [dict(metrics.schema["items"]), dict(on_validation.schema)]}
    return {
        "where": Setting(text(), "", "the paper, and its table or figure"),
        "metric": Setting(
            Rule("other", metric, "a test metric, or an accuracy on validation", item), None, "of the numbers"
        ),
        "point": Setting(anything(), {}, "of the grid, that they are at"),
        "seeds": Setting(whole(1, besides=(None,)), None, "that they are means over; none: it is not said"),
        "spread": Setting(one_of("ci", "sd"), "ci", "what stands behind ±: half of a 95 % interval, or deviation"),
        "values": Setting(_numbers_rule(), {}, "by arm, in percent where the metric is an accuracy"),
    }


def read_published(
    findings: Findings, arms: Sequence[str] | None, grid: Mapping[str, Sequence[Any]], ks: Sequence[int]
) -> tuple[Published, ...]:
    """The numbers of all entries; for `arms` None see `comparing.compare_settings`."""
    given = findings.source.values.get("published")
    if given is None:
        return ()
    if not isinstance(given, list):
        findings.add(("published",), f"must be a list of tables, got {given!r}.")
        return ()
    found: list[Published] = []
    for index, entry in enumerate(given):
        found += _entry(findings, index, entry, arms, grid, ks)
    return tuple(found)


def _entry(
    findings: Findings,
    index: int,
    entry: Any,
    arms: Sequence[str] | None,
    grid: Mapping[str, Sequence[Any]],
    ks: Sequence[int],
) -> list[Published]:
    place, settings = ("published", index), published_settings(ks)
    if not isinstance(entry, Mapping):
        findings.add(place, f"must be a mapping, got {entry!r}.")
        return []
    for name in entry:
        if name not in settings:
            findings.add((*place, name), unknown("field", name, list(settings)))
    for name in ("where", "metric", "values"):
        if not entry.get(name):
            findings.add((*place, name), "must be given, got nothing.")
    fields = {
        name: findings.checked((*place, name), setting.check, entry[name], setting.default)
        if name in entry
        else setting.default
        for name, setting in settings.items()
    }
    point = _point(findings, (*place, "point"), fields["point"], grid)
    for arm in fields["values"]:
        if arms is not None and arm not in arms:
            findings.add((*place, "values", arm), unknown("arm", arm, arms))
    if not fields["metric"]:
        return []
    unit = POINTS if Metric.parse(fields["metric"]).is_accuracy else 1
    return [
        Published(
            where=fields["where"],
            arm=arm,
            point=point,
            metric=fields["metric"],
            mean=mean / unit,
            spread=None if spread is None else spread / unit,
            kind=fields["spread"],
            seeds=fields["seeds"],
        )
        for arm, (mean, spread) in fields["values"].items()
    ]


def _point(
    findings: Findings, place: tuple[str | int, ...], point: Any, grid: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The point of the grid, which must be said in full, with the grid's own values: 60 may be 60.0 there."""
    if not isinstance(point, Mapping):
        findings.add(place, f"must be a mapping, got {point!r}.")
        return {}
    for key, value in point.items():
        if key not in grid:
            findings.add((*place, key), unknown("key of the grid", key, list(grid)))
        elif value not in grid[key]:
            findings.add((*place, key), f"must be one of the grid's values {list(grid[key])}, got {value!r}.")
    missing = [key for key in grid if key not in point]
    if missing:
        findings.add(place, f"must say the whole point of the grid, got none of {', '.join(missing)}.")
    return {key: value for key, values in grid.items() for value in values if key in point and value == point[key]}


def _numbers_rule() -> Rule:
    words = "by arm, a number or [number, spread]"

    def check(value: object) -> dict[str, tuple[float, float | None]]:
        if not isinstance(value, Mapping):
            raise ValueError(f"must be numbers {words}, got {value!r}.")  # noqa: TRY004 - an error in a study
        return {str(arm): _pair(each) for arm, each in value.items()}

    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    schema = {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, pair]}}
    return Rule("other", check, words, schema)


def _pair(value: object) -> tuple[float, float | None]:
    numbers = [as_number(each) for each in (value if isinstance(value, list | tuple) else [value])]
    mean, spread = numbers if len(numbers) == 2 else (numbers[0] if len(numbers) == 1 else None, None)
    if mean is None or None in numbers or (spread is not None and spread < 0):
        raise ValueError(f"must be a number or [number, spread], got {value!r}.")
    return mean, spread
