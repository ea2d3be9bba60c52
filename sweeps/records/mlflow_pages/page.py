"""A study's own page in MLflow: what came out in a sentence, the way to the views, tables, differences, a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from setsweep.sweeps.records.mlflow_address import view_path
from setsweep.sweeps.records.mlflow_pages.rows import rounded
from setsweep.sweeps.records.mlflow_pages.sensitivity import Curve, curves
from setsweep.sweeps.records.mlflow_pages.texts import column, own_metric, reported_metrics
from setsweep.sweeps.records.mlflow_pages.view import views
from setsweep.sweeps.reports.formats.markdown import markdown_table
from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.comparisons import difference_tables
from setsweep.sweeps.reports.tables.report_tables import result_tables
from setsweep.sweeps.reports.tables.searches import search_tables
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.reports.wording import (
    is_share,
    more_is_better,
    p_value,
    settings,
    with_half_width,
)
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.study import Point, Study

PREVIEW = "preview.png"  # the figure on the page, an artifact of the study's run
PREVIEW_WIDTH = 700  # pixels
_GAP = "&emsp;"  # after each cell of a table: MLflow draws neither borders nor space between them
RUNNING = 8  # runs that are named
NAMED_POINTS = 3  # of a grid, in the sentence


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a study's page says.

    Args:
        sentence: the result.
        sections: Markdown, what matters most first.
        metrics: numbers of the study as a whole: counts of runs, the best of each metric.
        figure: a picture that is shown small.
        curves: metrics with several steps, of a study that is complete.
    """

    sentence: str
    sections: Sequence[str]
    metrics: Mapping[str, float] = field(default_factory=dict)
    figure: Path | None = None
    curves: Mapping[str, Curve] = field(default_factory=dict)

    def text(self, study: Study, experiment_id: str, run_id: str, limit: int) -> str:
        """The page in at most `limit` characters; what does not fit is cut from the end, and it says where it is."""
        artifacts = f"#/experiments/{experiment_id}/runs/{run_id}/artifacts"
        named = [("Report", f"{artifacts}/report.html")]
        named += [(view.name, view_path(experiment_id, view.key)) for view in views(study)]
        head = [self.sentence, " · ".join(f"[{name}]({address})" for name, address in named), study.about]
        shown = f"![figure](get-artifact?path={PREVIEW}&run_uuid={run_id})"
        tail = [shown] if self.figure is not None else []
        rest = f"The rest is in the [report]({artifacts}/report.html)."
        return fit([part for part in head if part], self.sections, tail, rest, limit)


def fit(head: Sequence[str], sections: Sequence[str], tail: Sequence[str], rest: str, limit: int) -> str:
    """Head, as many whole sections as fit, tail; with `rest` after the sections where one of them did not fit."""
    joined = "\n\n".join([*head, *sections, *tail])
    if len(joined) <= limit:
        return joined
    left = limit - len("\n\n".join([*head, rest, *tail])) - 2
    kept: list[str] = []
    for section in sections:
        left -= len(section) + 2
        if left < 0:
            break
        kept.append(section)
    return "\n\n".join([*head, *kept, rest, *tail])[:limit]


def build_page(report: Report, figures: Sequence[Path] = (), running: Sequence[str] = ()) -> Page:
    """The page of a report; of its figures the first is shown, and `running` names the runs that are trained now."""
    pictures = [path for path in figures if path.suffix == ".png"]
    tables = [*result_tables(report), *difference_tables(report), *search_tables(report)]
    named = ", ".join(running[:RUNNING]) + (", ..." if len(running) > RUNNING else "")
    now = [f"Running now: {named}."] if running else []
    sections = [progress(report), *now, *(map(_section, tables) if report.aggregates else ()), *notes(report)]
    return Page(
        sentence=sentence(report),
        sections=sections,
        metrics=_metrics(report),
        figure=pictures[0] if pictures else None,
        curves=curves(report) if report.complete else {},
    )


def sentence(report: Report) -> str:
    """What came out: the best arm in the study's own metric, its interval and its difference to the baseline."""
    metric = own_metric(report.study, "confirm")
    best = [(point, each) for point in report.study.points() if (each := _best(report, metric, point)) is not None]
    so_far = "" if report.complete else "So far: "
    if not best:
        return f"{so_far}no arm has a result yet."
    name = column(metric)
    if len(best) == 1:
        return f"{so_far}**{best[0][1].arm}** is best in {name}: {_said(report, best[0][1])}."
    arms = [a.arm for _, a in best]
    if len(set(arms)) == 1 and len(best) <= NAMED_POINTS:
        places = "; ".join(f"{_said(report, a)} at {_short(point)}" for point, a in best)
        return f"{so_far}**{arms[0]}** is best in {name} at all grid points: {places}."
    if len(best) <= NAMED_POINTS:
        places = "; ".join(f"at {_short(point)} **{a.arm}** with {_said(report, a)}" for point, a in best)
        return f"{so_far}Best in {name}: {places}."
    wins = ", ".join(f"**{arm}** at {arms.count(arm)}" for arm in sorted(set(arms), key=arms.count, reverse=True))
    return f"{so_far}Best in {name}: {wins} of {len(best)} grid points."


def _best(report: Report, metric: str, point: Point) -> Aggregate | None:
    found = [a for a in report.confirmed if a.metric == metric and a.point == point]
    known = [a for a in found if a.mean is not None]
    sign = 1 if more_is_better(metric) else -1
    return max(known, key=lambda a: sign * (a.mean or 0.0), default=None)


def _said(report: Report, best: Aggregate) -> str:
    """The mean with its interval, and what it has over the baseline."""
    unit, points = (" %", " points") if is_share(best.metric) else ("", "")
    text = f"{with_half_width(best.metric, best.mean, best.ci_low, best.ci_high)}{unit} (n = {best.n}"
    for c in report.comparisons:
        if (c.arm, c.point, c.metric) == (best.arm, best.point, best.metric) and c.difference is not None:
            difference = with_half_width(c.metric, c.difference, c.ci_low, c.ci_high, signed=True)
            shown = p_value(c.p_corrected)
            p = f", p {shown}" if shown.startswith("<") else f", p = {shown}"
            text += f"; {difference}{points} to {c.baseline}{p if c.p_corrected is not None else ''}"
    return f"{text})"


def _short(point: Point) -> str:
    """A grid point by the last parts of its paths."""
    return settings({path.rpartition(".")[2]: value for path, value in point.items()})


def _metrics(report: Report) -> dict[str, float]:
    counts = report.counts
    runs = {"planned": counts.planned, "done": counts.done, "failed": counts.failed, "waiting": counts.waiting}
    found = {f"runs/{name}": float(number) for name, number in runs.items()}
    for metric in reported_metrics(report.study, "confirm"):
        means = _means(a for a in report.confirmed if a.metric == metric)
        if means:
            found[f"best/{metric}"] = rounded(max(means) if more_is_better(metric) else min(means))
    return found


def _means(found: Iterable[Aggregate]) -> list[float]:
    return [each.mean for each in found if each.mean is not None]


def _section(table: Table) -> str:
    header, rule, *body = markdown_table(table).splitlines()
    apart = [line.replace(" |", f"{_GAP} |") for line in (header, *body)]
    return "\n".join([f"### {table.title}", "", apart[0], rule, *apart[1:]])
