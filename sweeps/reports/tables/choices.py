"""The tables of how choices were made: what each search has chosen and how sure that is, its race, its front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from setsweep.sweeps.planning.race import Round
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import (
    MISSING,
    is_share,
    metric_label,
    number,
    place,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.searched import Searched
from setsweep.sweeps.study.study import point_key
from setsweep.trainables.evaluation.metric import Metric

_NAMED = 6  # trials of a round; the others are counted


def choice_tables(report: Report) -> list[Table]:
    """One table of all choices, one of the races round by round, and one of each front."""
    return [*_choices(report), *_races(report), *_fronts(report)]


def _choices(report: Report) -> list[Table]:
    """A row per searched arm and grid point."""
    search = report.study.search
    if search is None or not report.searches:
        return []
    header = ["arm", *_of_grid(report), "search", "runs (of all)", "chosen"]
    header += [_objective_label(search.objective), f"at most below the best{_points(search.objective)}"]
    header += [f"optimism{_points(search.objective)}"]
    if report.study.confirm.default:
        header += [
            f"default's {metric_label(report.study.primary)}",
            f"chosen - default{_points(report.study.primary)}",
        ]
    rows = [tuple(Cell(text) for text in _choice(report, each)) for each in report.searches]
    return [Table("Choices", tuple(header), tuple(rows), (0, *((1,) if report.study.grid else ())))]


def _choice(report: Report, each: Searched) -> list[str]:
    search = report.study.search
    assert search is not None
    plan = ", ".join(f"{rung.trials} x {rung.seeds}" for rung in each.plan)
    gap = each.optimism
    texts = [
        *_place_of(report, each),
        plan,
        f"{each.runs} ({100 * each.runs / each.runs_of_all_seeds:.0f} %)",
        MISSING if each.chosen is None else f"trial {each.chosen}",
        number(search.objective, each.mean),
        number(search.objective, None if each.certificate is None else each.certificate.bound),
        MISSING
        if gap is None
        else with_half_width(search.objective, gap.difference, gap.ci_low, gap.ci_high, signed=True),
    ]
    return texts + (_default(report, each) if report.study.confirm.default else [])


def _default(report: Report, each: Searched) -> list[str]:
    """The default's own confirmed mean, and what tuning has brought beside it."""
    metric, change = report.study.primary, each.tunability
    own = next((a for a in _at(report, each) if (a.stage, a.metric) == ("default", metric)), None)
    if own is None or change is None:
        return [MISSING, MISSING]
    brought = with_half_width(metric, change.mean, change.ci_low, change.ci_high, signed=True)
    is_it = each.chosen is not None and each.trials[each.chosen].params == own.params
    return [with_half_width(metric, own.mean, own.ci_low, own.ci_high), "it is the default" if is_it else brought]


def _races(report: Report) -> list[Table]:
    """A row per round of each race: who goes on and who was dropped, each with the mean that decided it."""
    search = report.study.search
    if search is None or search.race is None:
        return []
    rows = []
    for each in report.searches:
        for own in each.rounds:
            if own.means:
                seeds = f"{len(own.seeds)}"
                went = _named(search.objective, own.survivors, own.means)
                texts = [*_place_of(report, each), seeds, went, _dropped(search.objective, own)]
                rows.append(tuple(map(Cell, texts)))
    last = len(_of_grid(report)) + 2
    header = ("arm", *_of_grid(report), "seeds", "go on: trial (mean)", "dropped: trial (mean)")
    text = (0, *range(1, last - 1), last, last + 1)
    return [Table(f"Races by {search.objective}", header, tuple(rows), text)] if rows else []


def _dropped(objective: str, own: Round) -> str:
    return _named(objective, own.dropped, own.means) if own.dropped else MISSING


def _named(objective: str, numbers: Sequence[int], means: Mapping[int, float]) -> str:
    named = ", ".join(f"{each} ({number(objective, means[each])})" for each in numbers[:_NAMED])
    more = len(numbers) - _NAMED
    return f"{named} and {more} more" if more > 0 else named


def _fronts(report: Report) -> list[Table]:
    """A table per arm and point whose search has several objectives: the confirmed members of its front."""
    search = report.study.search
    if search is None or not search.further:
        return []
    twins = [Metric.parse(each).on("test").name for each in search.objectives]
    header = ("trial", *map(_objective_label, search.objectives), *map(metric_label, twins), "hyperparameters")
    tables = []
    for each in report.searches:
        found = {(a.trial, a.stage == "search", a.metric): a for a in _at(report, each) if a.stage != "default"}
        rows = []
        for trial in each.front:
            texts = [_mean_text(found.get((trial, True, metric))) for metric in search.objectives]
            texts += [_mean_text(found.get((trial, False, metric))) for metric in twins]
            rows.append(tuple(map(Cell, [str(trial), *texts, settings(each.trials[trial].params)])))
        if rows:
            title = place(f"Front of {each.arm}", each.point)
            tables.append(Table(title, header, tuple(rows), (len(header) - 1,)))
    return tables


def _mean_text(aggregate: Aggregate | None) -> str:
    if aggregate is None:
        return MISSING
    return with_half_width(aggregate.metric, aggregate.mean, aggregate.ci_low, aggregate.ci_high)


def _at(report: Report, each: Searched) -> Iterable[Aggregate]:
    return report.at_place.get((each.arm, point_key(each.point)), ())


def _of_grid(report: Report) -> tuple[str, ...]:
    return ("grid point",) if report.study.grid else ()


def _place_of(report: Report, each: Searched) -> list[str]:
    return [each.arm, *([settings(each.point)] if report.study.grid else [])]


def _points(metric: str) -> str:
    return " (points)" if is_share(metric) else ""


def _objective_label(metric: str) -> str:
    return f"{metric} (%)" if is_share(metric) else metric
