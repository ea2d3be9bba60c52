"""Two studies side by side: which configurations are compared, and the report of that in every format."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.losses.values import nearest
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.reports.formats import markdown, terminal
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import metric_label, number, p_value, settings, with_half_width
from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate
from setsweep.sweeps.statistics.between_studies import Between, Side, between_studies
from setsweep.sweeps.study.difference import flat
from setsweep.sweeps.study.study import Study, point_key
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at

FORMS = ("terminal", "markdown", "json")
_SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class Told:
    """A study with its runs so far.

    Args:
        name: what it is called beside the other one.
        study: as it was run.
        runs: decided so far, with their results.
    """

    name: str
    study: Study
    runs: Sequence[tuple[PlannedRun, RunResult | None]]

    def confirmed(self) -> list[Aggregate]:
        """What its confirmation has given."""
        asked = [(run, result and with_values_at(result, self.study.at_epochs)) for run, result in self.runs]
        found = aggregate(asked, confidence=self.study.compare.confidence, pilot=self.study.pilot)
        return [each for each in found if each.stage == "confirm"]

    def sides(self, metric: str) -> list[Side]:
        """Each configuration that was confirmed, with its values of a metric."""
        data = {run.candidate: run.config.data for run, _ in self.runs}
        return [
            Side(arm=each.arm, point=each.point, data=data[each.candidate], values=each.numbers)
            for each in self.confirmed()
            if each.metric == metric
        ]


@dataclass(frozen=True, kw_only=True)
class ComparedStudies:
    """What two studies say of each other.

    Args:
        first, second: the studies; the second is taken from the first.
        metric: that they are compared by.
        rows: a difference for each arm and point that both have.
        notes: what the reader should know.
    """

    first: Told
    second: Told
    metric: str
    rows: tuple[Between, ...]
    notes: tuple[str, ...]


def compare_studies(
    first: Told, second: Told, *, metric: str | None = None, arms: Mapping[str, str] | None = None
) -> ComparedStudies:
    """Compare what two studies have confirmed; confidence and correction are those of the first.

    Args:
        first, second: the second is taken from the first.
        metric: a test metric that both have; None: the primary one of the first.
        arms: those of the first to those of the second; None: those of the same name.

    Raises:
        ValueError: a metric or an arm that a study lacks, or nothing in common.
    """
    metric = metric or first.study.primary
    _check_metric(first, second, metric)
    together = _arms(first, second, arms)
    pairs = [
        (one, other)
        for one in first.sides(metric)
        for other in second.sides(metric)
        if together.get(one.arm) == other.arm and _same_place(first, second, one, other)
    ]
    if not pairs:
        raise ValueError(f"{first.name} and {second.name} must have a grid point in common, got none.")
    own = first.study.compare
    rows = between_studies(pairs, confidence=own.confidence, correction=own.correction)
    return ComparedStudies(
        first=first, second=second, metric=metric, rows=tuple(rows), notes=tuple(_notes(first, second, rows))
    )


def _check_metric(first: Told, second: Told, metric: str) -> None:
    known = [{each.metric for each in told.confirmed()} for told in (first, second)]
    common = sorted(name for name in known[0] & known[1] if name.startswith("test/"))
    if not common:
        raise ValueError(
            f"{first.name} and {second.name} must have a metric in common, got none that is known of both."
        )
    for told, metrics in zip((first, second), known, strict=True):
        if metric not in metrics:
            there = f"{nearest(metric, common)} Both have: {', '.join(common)}."
            raise ValueError(f"--metric must be one that both studies have, got {metric!r}, not in {told.name}.{there}")


def _arms(first: Told, second: Told, arms: Mapping[str, str] | None) -> Mapping[str, str]:
    for told, names in ((first, list(arms or ())), (second, list((arms or {}).values()))):
        for name in names:
            if name not in told.study.arms:
                there = f"{nearest(name, told.study.arms)} There: {', '.join(told.study.arms)}."
                raise ValueError(f"--arm must name arms of both studies, got {name!r}, not in {told.name}.{there}")
    same = {name: name for name in first.study.arms if name in second.study.arms}
    if not (arms or same):
        each = (f"{told.name} has {', '.join(told.study.arms)}" for told in (first, second))
        raise ValueError(f"--arm FIRST=SECOND must be given where no arm is in both studies: {'; '.join(each)}.")
    return arms or same


def _same_place(first: Told, second: Told, one: Side, other: Side) -> bool:
    """The same grid point; a study without a grid is compared at every point of the other."""
    return point_key(one.point) == point_key(other.point) or not (first.study.grid and second.study.grid)


def _notes(first: Told, second: Told, rows: Sequence[Between]) -> list[str]:
    own = first.study.compare
    tests = (
        f"Δ is {first.name} minus {second.name} with its {100 * own.confidence:g} % interval: of a paired t test where "
        f"seeds and data are the same, else of Welch's. p is corrected ({own.correction}) over these {len(rows)} "
        f"differences; * marks p < {1 - own.confidence:.2g}."
    )
    notes = [tests]
    before, now = (flat(told.study.protocol()) for told in (first, second))
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if names:
        said = [f"{name} {before.get(name, 'nothing')} and {now.get(name, 'nothing')}" for name in names[:_SHOWN]]
        notes.append(f"The studies differ in {'; '.join(said)}{'; ...' if len(names) > _SHOWN else ''}.")
    else:
        notes.append("The studies' data, model, training and search are the same.")
    return notes


def render_compared(compared: ComparedStudies, form: str) -> str:
    """The comparison as text. Raises ValueError: another format than those of `FORMS`."""
    if form not in FORMS:
        raise ValueError(f"format must be one of {', '.join(FORMS)}, got {form!r}.")
    if form == "json":
        return json_text(_plain(compared))
    title = f"{compared.first.name} - {compared.second.name}"
    blocks = terminal.blocks_text if form == "terminal" else markdown.blocks_text
    return blocks(title, "", [_table(compared), *compared.notes])


def _table(compared: ComparedStudies) -> Table:
    first, second, metric = compared.first, compared.second, compared.metric
    placed = any(row.first.point or row.second.point for row in compared.rows)
    difference = f"Δ {metric_label(metric)}".replace("(%)", "(points)")
    header = ("arm", *(["at"] if placed else []), first.name, second.name, difference, "p", "n", "pairs")
    rows = tuple(tuple(map(Cell, _cells(row, metric, placed=placed))) for row in compared.rows)
    return Table(metric_label(metric), header, rows, (0, *([1] if placed else []), len(header) - 1))


def _cells(row: Between, metric: str, *, placed: bool) -> list[str]:
    one, other = row.first, row.second
    arm = one.arm if one.arm == other.arm else f"{one.arm} - {other.arm}"
    at = [settings(one.point or other.point)] if placed else []
    means = [with_half_width(metric, mean.mean, mean.ci_low, mean.ci_high) for mean in row.means]
    sizes = sorted({mean.n for mean in row.means}) if row.n is None else [row.n]
    return [
        arm,
        *at,
        *means,
        with_half_width(metric, row.difference, row.ci_low, row.ci_high, signed=True)
        if row.ci_low is not None
        else number(metric, row.difference, signed=True),
        p_value(row.p_corrected) + ("*" if row.significant else ""),
        " and ".join(map(str, sizes)),
        f"no: {row.unpaired}" if row.unpaired else "by seed",
    ]


def _plain(compared: ComparedStudies) -> dict[str, Any]:
    own = compared.first.study.compare
    return {
        "first": compared.first.name,
        "second": compared.second.name,
        "metric": compared.metric,
        "confidence": own.confidence,
        "correction": own.correction,
        "differences": [_plain_row(row) for row in compared.rows],
        "notes": list(compared.notes),
    }


def _plain_row(row: Between) -> dict[str, Any]:
    sides = {
        name: {"arm": side.arm, "point": side.point, **dataclasses.asdict(mean), "values": side.values}
        for name, side, mean in zip(("first", "second"), (row.first, row.second), row.means, strict=True)
    }
    numbers = ("difference", "ci_low", "ci_high", "p", "p_corrected", "significant", "n")
    return {**sides, **{name: getattr(row, name) for name in numbers}, "unpaired": row.unpaired or None}
