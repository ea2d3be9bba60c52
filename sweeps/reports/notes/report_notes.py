"""The sentences of a report: how far the study is, what the intervals and tests are, and which runs failed."""

from __future__ import annotations

from collections.abc import Set

from setsweep.data.declaration import SPLIT_OF_RUN
from setsweep.sweeps.reports.learning_rates import learning_rates
from setsweep.sweeps.reports.notes.choices import choice_notes
from setsweep.sweeps.reports.notes.comparisons import comparison_notes
from setsweep.sweeps.reports.notes.conformal import conformal_notes
from setsweep.sweeps.reports.report import Failure, Report
from setsweep.sweeps.reports.shown_metrics import shown_metrics
from setsweep.sweeps.reports.wording import count, number, seeds, settings
from setsweep.sweeps.study.study import Point, Search, Study
from setsweep.trainables.evaluation.metric import FEW, MANY, Metric

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
        _about_intervals(report),
        _about_scope(report),
        *comparison_notes(report),
        *_about_search(report),
        *choice_notes(report),
        *_about_unusual(report),
        *conformal_notes(report.study),
        *_about_groups(report),
        *_about_missing(report),
        *_about_published(report),
        *_about_learning_rates(report),
        *_about_failures(report),
        *_about_sensitivity(report),
        *report.study.notes,
    ]


def _most_seeds(study: Study, search: Search) -> int:
    """That a trial may be trained with: a small space gives each trial more, and a race the best ones."""
    own = [len(search.seeds_of(arm)) for arm in study.arms.values() if arm.searched]
    return max([len(search.seeds), search.race or 0, *own])


def _about_intervals(report: Report) -> str:
    study = report.study
    confirmed = tuple({seed for each in report.chosen for seed in each.seeds}) or study.confirm_seeds
    percent = f"{100 * study.compare.confidence:g} %"
    search = study.search
    tried_with = search.first_seeds(_most_seeds(study, search)) if search else ()
    fresh = (
        f"the fresh confirmation seeds {seeds(confirmed)} alone; "
        f"hyperparameters were chosen by {search.objective} with seeds {seeds(tried_with)}"
        if search
        else f"seeds {seeds(confirmed)}; nothing was searched"
    )
    return (
        f"± is the half-width of the {percent} Student-t interval of the mean over n seeds, cut at 0 and 100 %. "
        "Bold is the best of a column and what cannot be told from it (paired t tests, Holm), if no seed failed. "
        f"Test numbers come from {fresh}."
    )


def _about_scope(report: Report) -> str:
    study = report.study
    every = "Every interval and test"
    if any(each.crossed is not None for each in report.over_images):
        every = "But for those over seeds and images, every interval and test"
    if study.data.get("split_seed") == SPLIT_OF_RUN:
        return (
            f"{every} is over seeds and the splits that they draw: it tells how much another seed and split would "
            "change, and other test images only where the data set's are drawn with the split and not given."
        )
    return (
        f"{every} is for one split and one test set: it tells how much another seed would change, "
        "not another split or other images, which may move means further than their intervals reach, paired "
        "differences less."
    )


def _about_groups(report: Report) -> list[str]:
    """What few, medium and many are, where a table has such a column."""
    if not any((metric := Metric.find(name)) and metric.group for name in shown_metrics(report)):
        return []
    bounds = f"fewer than {FEW}, {FEW} to {MANY} and more than {MANY}"
    return [f"few, medium and many are classes with {bounds} training images."]


def _about_search(report: Report) -> list[str]:
    if not any(interval.ci_low is not None for interval in report.search_intervals.values()):
        return []
    shared = "Intervals of trials share one variance on the logit scale, that of all trials"
    return [f"{shared}; in the choice a run that gave nothing counts as 0."]


def _about_unusual(report: Report) -> list[str]:
    if not report.unusual:
        return []
    named = "; ".join(
        f"{_place(each.arm, each.point, each.trial, each.seed)} "
        f"({number(report.study.primary, each.value)}, {each.deviations:+.1f} robust standard deviations)"
        for each in report.unusual[:_SHOWN_FAILURES]
    )
    return [f"Far from the other seeds, worth a look: {named}."]


def _about_sensitivity(report: Report) -> list[str]:
    if report.study.sensitivity is None:
        return []
    name = report.study.name
    return [f"How much hyperparameters matter stands in sensitivity.html; 'setsweep sensitivity {name}' prints it."]


def _about_missing(report: Report) -> list[str]:
    """The metrics that are asked for and that no run of the confirmation has, and why."""
    confirmed = [a for a in report.confirmed if a.n]
    if not confirmed:
        return []
    study, known = report.study, {a.metric for a in confirmed}
    asked = (*study.compare.metrics, *study.compare.show, *study.at_epochs, study.primary)
    return [f"{name} is not known: {_why(name, known)}." for name in dict.fromkeys(asked) if name not in known]


def _why(name: str, known: Set[str]) -> str:
    metric = Metric.parse(name)
    if metric.at is not None:
        return "these runs are older than the record of every kept epoch's metrics"
    if metric.group is None:
        return "no run has given it"
    if any((other := Metric.find(each)) and other.group for each in known):
        return f"no class has so {metric.group} training images"
    groups = f"few: below {FEW}, many: above {MANY} training images"
    return f"all classes are in one group ({groups}), of which the mean over all classes tells"


def _about_learning_rates(report: Report) -> list[str]:
    found = learning_rates(report.study, (each.candidate for each in report.chosen))
    if not found:
        return []
    told = [
        f"{each.given:.3g}, meant for batches of {each.reference}, is "
        + ("that of a full batch in proportion" if each.used is None else f"{each.used:.3g} at {each.batch_size}")
        for each in found[:_SHOWN_FAILURES]
    ]
    more = "; ..." if len(found) > _SHOWN_FAILURES else ""
    return [f"Learning rates grow with the batch (training.reference_batch_size): {'; '.join(told)}{more}."]


def _about_failures(report: Report) -> list[str]:
    if not report.failures:
        return []
    # The confirmation's first: those are missing from the test numbers.
    ordered = sorted(report.failures, key=lambda failure: failure.stage)
    named = "; ".join(map(_failure, ordered[:_SHOWN_FAILURES]))
    more = len(ordered) - _SHOWN_FAILURES
    rest = f"; and {more} more, listed in the JSON report" if more > 0 else ""
    why = f"'setsweep logs {report.study.name}' says more of each."
    left_out = f"Left out of the means ({count(len(ordered), report.counts.planned)} runs): {named}{rest}. {why}"
    if not any(failure.kind == "diverged" for failure in report.failures):
        return [left_out]
    return ["In brackets, with 0s: the mean in which runs that gave nothing count as 0.", left_out]


def _failure(failure: Failure) -> str:
    lines = failure.reason.strip().splitlines() or [""]
    reason = lines[0] if len(lines[0]) <= _REASON_LENGTH else lines[0][: _REASON_LENGTH - 1] + "…"
    where = _place(failure.arm, failure.point, failure.trial, failure.seed)
    return f"{where} ({reason.rstrip('.')})"


def _place(arm: str, point: Point, trial: int | None, seed: int) -> str:
    where = [arm, settings(point), "" if trial is None else f"trial {trial}"]
    return ", ".join(part for part in [*where, f"seed {seed}"] if part)


def _about_published(report: Report) -> list[str]:
    if not report.published:
        return []
    known = [each for each in report.published if each.inside is not None]
    inside = sum(each.inside is True for each in known)
    percent = f"{100 * report.study.compare.confidence:g} %"
    sentence = (
        f"Of {len(report.published)} published numbers {len(known)} have an interval of ours beside them, and {inside} "
        f"lie inside: they differ by no more than our {percent} interval and the paper's allow, both of which tell "
        "seeds apart, not machines. ± is half of a 95 % interval as the paper prints it, sd a deviation over seeds."
    )
    return [sentence]
