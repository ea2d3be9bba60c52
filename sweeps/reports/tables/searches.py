"""The tables of what was searched, what that cost, and which runs gave nothing."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import MISSING, count, in_brackets, is_accuracy, number
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.study import Point


def search_tables(report: Report) -> list[Table]:
    """One table with a row per searched arm: its trials over all points, and the objective of the chosen at each."""
    search = report.study.search
    if search is None:
        return []
    trials = [a for a in report.aggregates if a.stage == "search" and a.metric == search.objective]
    rows = []
    for arm in report.study.arms:
        own = [a for a in trials if a.arm == arm]
        if own:
            tried = count(sum(a.n > 0 for a in own), len(own)) + _stopped_text(report, arm)
            best = [_best_trial(report, arm, point, own) for point in report.study.points()]
            rows.append((Cell(arm), Cell(tried), Cell("; ".join(_trial_text(report, a) for a in best))))
    unit = " (%)" if is_accuracy(search.objective) else ""
    where = " at each point" if report.study.grid else ""
    header = ("arm", "trials", f"best {search.objective}{unit}{where}")
    return [Table("Search on validation", header, tuple(rows), (0, 2))] if rows else []


def _stopped_text(report: Report, arm: str) -> str:
    """How many trials were stopped within their training, at all points."""
    stopped = sum(len(each.stopped) for each in report.searches if each.arm == arm)
    return f", {stopped} stopped" if stopped else ""


def spent_tables(report: Report) -> list[Table]:
    """One table of what each arm was given, where something is searched."""
    if report.study.search is None or not report.aggregates:
        return []
    header = ("arm", "configurations", "search runs", "confirmation runs")
    rows = [(each.arm, *map(str, (each.configurations, each.search_runs, each.confirm_runs))) for each in report.spent]
    return [Table("Budget", header, _cells(rows))]


def divergence_tables(report: Report) -> list[Table]:
    """One table of the runs that gave nothing, by arm and stage; none where all went well."""
    rows = []
    for each in report.divergences:
        low, high = (None if end is None else 100 * end for end in (each.ci_low, each.ci_high))
        share = MISSING if each.rate is None else f"{100 * each.rate:.1f} [{low:.1f}, {high:.1f}]"
        rows.append((each.arm, each.stage, count(each.diverged, each.runs), share, str(each.failed)))
    header = ("arm", "stage", "diverged", "share (%)", "failed otherwise")
    return [Table("Runs without a number", header, _cells(rows), (0, 1))] if rows else []


def _cells(rows: Sequence[Sequence[str]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(map(Cell, row)) for row in rows)


def _best_trial(report: Report, arm: str, point: Point, trials: Sequence[Aggregate]) -> Aggregate | None:
    """The trial that is confirmed; before there is one, that which leads by the rule of the choice, or has the best
    mean of the first, a run that gave nothing counting 0.
    """
    here = [a for a in trials if a.point == point and a.n]
    chosen = [c.params for c in report.chosen if c.arm == arm and c.point == point]
    leaders = [each.leader for each in report.searches if (each.arm, each.point) == (arm, point)]
    best = [a for a in here if a.params in chosen] or [a for a in here if a.trial in leaders]
    return max(best or here, key=lambda a: (_with_zeros(a), -(a.trial or 0)), default=None)


def _with_zeros(trial: Aggregate) -> float:
    return sum(trial.numbers.values()) / (trial.n + len(trial.failed))


def _trial_text(report: Report, trial: Aggregate | None) -> str:
    if trial is None:
        return MISSING
    interval = report.search_intervals.get(trial.candidate)
    ends = in_brackets(trial.metric, interval.ci_low, interval.ci_high) if interval else MISSING
    shown = number(trial.metric, trial.mean) + (f" {ends}" if ends != MISSING else "")
    full = [each for each in report.saturated if each.candidate == trial.candidate]
    shown += f" ({count(len(full[0].seeds), full[0].runs)} saturated)" if full else ""
    return shown + (f" ({number(trial.metric, _with_zeros(trial))} with 0s)" if trial.failed else "")
