"""The sentences about how choices were made, and how often test numbers have been looked at."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps.planning.choice import SATURATED
from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.wording import place, seeds
from setsweep.sweeps.statistics.saturated import Saturated
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import point_key
from setsweep.trainables.evaluation.metric import Metric

_SHOWN = 10


def choice_notes(report: Report) -> list[str]:
    """What the tables of choices mean, what could not win, and each confirmation that was not the first."""
    return [
        *_about_choices(report),
        *_about_saturated(report),
        *_about_races(report),
        *_about_stopped(report),
        *_about_looks(report),
        *_about_dropped(report),
    ]


def _about_choices(report: Report) -> list[str]:
    search = report.study.search
    if search is None or all(each.chosen is None for each in report.searches):
        return []
    by = "the first objective" if search.further else "the objective"
    rule = (
        f"Chosen is the best mean of {by} over the seeds that all have who are left, a run without a number counting "
        "as 0; of equals the first. Optimism is that mean minus the one on fresh seeds, both on validation."
    )
    sure = [each.certificate for each in report.searches if each.certificate is not None]
    percent = f"{100 * report.study.compare.confidence:g} %"
    if any(each.bound is not None for each in sure):
        rule += (
            f" At {percent} confidence, each by itself, a choice is at most so far below the best of the trials as its "
            "row says (Hsu's comparison with the best)."
        )
    elif sure:
        rule += " One seed a trial says nothing of how far a choice may be from the best: search.race or more seeds do."
    tuned = any(each.tunability is not None for each in report.searches)
    brought = " Chosen - default is paired by seed, on test: what the search has brought." if tuned else ""
    return [rule + brought]


def _about_saturated(report: Report) -> list[str]:
    """Which configurations have sets that ignore k, and what that has meant for the choice."""
    if not report.saturated:
        return []
    named = "; ".join(map(_saturated, report.saturated[:_SHOWN]))
    more = len(report.saturated) - _SHOWN
    rest = f"; and {more} more, listed in the JSON report" if more > 0 else ""
    told = (
        f"Saturated: {named}{rest}. Where sets hold more than {SATURATED:g} x k labels on validation, scores are equal "
        "by the thousand and no threshold parts them: such sets ignore k, and their accuracy is that of larger ones."
    )
    search = report.study.search
    if search is None or all(each.stage != "search" for each in report.saturated):
        return [told]
    if search.saturated:
        counted = "by its number, as when this study was begun: the choice may be one of them"
        return [f"{told} In this search such a run counts {counted}."]
    return [f"{told} In the search such a run counts as one that failed."]


def _saturated(each: Saturated) -> str:
    stage = {"search": f"trial {each.trial}", "confirm": "confirmed", "default": "the default"}
    what = stage.get(each.stage, f"trial {each.trial}")
    seeds = f"{len(each.seeds)} of {each.runs} seeds, up to {each.size:.1f} labels"
    return f"{place(each.arm, each.point)}, {what} ({seeds} for k = {Metric.parse(each.metric).k})"


def _about_races(report: Report) -> list[str]:
    search = report.study.search
    if search is None or search.race is None or not report.searches:
        return []
    last = seeds(search.first_seeds(search.race))
    runs = sum(each.runs for each in report.searches)
    whole = sum(each.runs_of_all_seeds for each in report.searches)
    saved = f"{whole - runs} are saved ({100 * (1 - runs / whole):.0f} %)"
    return [f"The race over seeds {last} takes {runs} runs; every trial with every seed would take {whole}: {saved}."]


def _about_stopped(report: Report) -> list[str]:
    """What was stopped within its training, and when."""
    pruner = None if report.study.search is None else report.study.search.pruner
    if pruner is None:
        return []
    told = []
    for each in report.searches:
        if each.stopped:
            first, last = min(each.stopped.values()), max(each.stopped.values())
            when = f"epoch {first}" if first == last else f"epochs {first} to {last}"
            where = place(each.arm, each.point)
            counts = f"{len(each.stopped)} of {len(each.trials)} trials were stopped after {when}"
            told.append(f"{where}: {counts} ({100 * each.saved:.0f} % of the epochs saved)")
    if not told:
        return [f"No trial was stopped by the rule {pruner.name}."]
    rule = (
        f"Stopped are trials that are behind those of finished batches by the rule {pruner.name}; none can be chosen."
    )
    return [f"{'; '.join(told)}. {rule}"]


def _about_looks(report: Report) -> list[str]:
    """A sentence for each place whose test numbers were there to be seen before what is confirmed now."""
    places: dict[tuple[str, str], list[Look]] = {}
    for look in report.looks:
        places.setdefault((look.arm, point_key(look.point)), []).append(look)
    told: dict[str, list[str]] = {}
    for seen in places.values():
        own = list({(look.n, look.choice): look for look in seen}.values())  # the metrics are another matter
        if len(own) > 1:
            choices = len({look.choice for look in own})
            counted = f"{choices} choices have" if choices > 1 else "1 choice has"
            sizes = ", ".join(str(look.n) for look in own)
            text = f"{counted} been confirmed here, looks at n = {sizes}{_what_that_means(own, report.study.compare)}"
            told.setdefault(text, []).append(place(own[0].arm, own[0].point))
    return [f"{'; '.join(where)}: {text}" for text, where in told.items()]


def _about_dropped(report: Report) -> list[str]:
    """What was compared when test numbers could be seen, and is not compared now, or not first."""
    study = report.study
    before = [look for look in report.looks if look.metrics]
    metrics = dict.fromkeys(name for look in before for name in look.metrics if Metric.parse(name).k in study.k)
    dropped = [name for name in metrics if name not in study.compared]
    firsts = dict.fromkeys(look.primary for look in before if look.primary in metrics)
    others = [name for name in firsts if name not in (None, study.primary)]
    told = []
    if dropped:
        told.append(
            f"Compared when test numbers were first seen, and left out since: {', '.join(dropped)}. p is corrected for "
            "what is left: who drops what does not fit finds too much."
        )
    if others:
        told.append(
            f"Tested first when test numbers were first seen: {', '.join(map(str, others))}; now {study.primary}. p "
            "of a primary metric holds where it was named before."
        )
    return told


def _what_that_means(looks: Sequence[Look], compare: Compare) -> str:
    """Further looks at one choice do no harm where the study has planned for them."""
    planned = compare.looks == "anytime" or {look.n for look in looks} <= {*(compare.looks or ())}
    if planned and len({look.choice for look in looks}) == 1:
        return ", as the study has planned."
    return ". Intervals and tests are of one look: who looks until it fits finds too much."
