"""The sentences of a report: how far the study is, what the intervals and tests are, and which runs failed."""

from __future__ import annotations

from setsweep.sweeps.reports.choice_notes import choice_notes
from setsweep.sweeps.reports.report import Failure, Report
from setsweep.sweeps.reports.tables import SIGNIFICANT
from setsweep.sweeps.reports.wording import count, seeds, settings
from setsweep.sweeps.study.study import Study

_SHOWN_FAILURES = 10
_REASON_LENGTH = 120


def progress(report: Report) -> str:
    """Whether the study is complete, and its runs by state."""
    c = report.counts
    states = [f"{c.done} done"]
    states += [f"{c.failed} diverged or failed"] if c.failed else []
    states += [f"{c.waiting} waiting"] if c.waiting else []
    runs = f"{c.planned} runs: {', '.join(states)}."
    if report.complete:
        return f"Complete. {runs}"
    arms = list(dict.fromkeys(arm for arm, _ in report.unconfirmed))
    missing = f" The confirmation of {', '.join(arms)} is not finished: the numbers are provisional." if arms else ""
    return f"Incomplete. {runs}{missing}"


def notes(report: Report) -> list[str]:
    """What the tables' numbers are, the runs that they lack, and what reading the study has changed in it."""
    return [
        _about_intervals(report.study),
        *_about_tests(report),
        *choice_notes(report),
        *_about_failures(report),
        *_about_sensitivity(report),
        *report.study.notes,
    ]


def _about_intervals(study: Study) -> str:
    percent = f"{100 * study.compare.confidence:g} %"
    fresh = (
        f"the fresh confirmation seeds {seeds(study.confirm_seeds)} alone; "
        f"hyperparameters were chosen by {study.search.objective} with seeds {seeds(study.search.seeds)}"
        if study.search
        else f"seeds {seeds(study.confirm_seeds)}; nothing was searched"
    )
    return (
        f"± is the half-width of the {percent} Student-t interval of the mean over n seeds. "
        f"Test numbers come from {fresh}."
    )


def _about_tests(report: Report) -> list[str]:
    compare = report.study.compare
    if not report.comparisons:
        return []
    tests = sum(c.p is not None for c in report.comparisons)
    how = {
        "holm": f"Holm-corrected over the study's {tests} comparisons",
        "bonferroni": f"Bonferroni-corrected over the study's {tests} comparisons",
        "none": f"not corrected for the study's {tests} comparisons",
    }[compare.correction]
    paired = f"Δ is the arm minus {compare.baseline}, paired by seed"
    return [
        f"{paired}; p is of the two-sided paired t test, {how}; {SIGNIFICANT} marks p < {1 - compare.confidence:.3g}."
    ]


def _about_sensitivity(report: Report) -> list[str]:
    if report.study.sensitivity is None:
        return []
    name = report.study.name
    return [f"How much hyperparameters matter stands in sensitivity.html; 'setsweep sensitivity {name}' prints it."]


def _about_failures(report: Report) -> list[str]:
    if not report.failures:
        return []
    # The confirmation's first: those are missing from the test numbers.
    ordered = sorted(report.failures, key=lambda failure: failure.stage)
    named = "; ".join(map(_failure, ordered[:_SHOWN_FAILURES]))
    more = len(ordered) - _SHOWN_FAILURES
    rest = f"; and {more} more, listed in the JSON report" if more > 0 else ""
    why = f"'setsweep logs {report.study.name}' says more of each."
    return [f"Left out of the means ({count(len(ordered), report.counts.planned)} runs): {named}{rest}. {why}"]


def _failure(failure: Failure) -> str:
    where = [failure.arm, settings(failure.point), "" if failure.trial is None else f"trial {failure.trial}"]
    place = ", ".join(part for part in [*where, f"seed {failure.seed}"] if part)
    lines = failure.reason.strip().splitlines() or [""]
    reason = lines[0] if len(lines[0]) <= _REASON_LENGTH else lines[0][: _REASON_LENGTH - 1] + "…"
    return f"{place} ({reason.rstrip('.')})"
