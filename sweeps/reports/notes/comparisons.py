"""The sentences under the tables of differences: what was tested, what could have been seen, and what was unequal."""

from __future__ import annotations

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.comparisons import SIGNIFICANT
from setsweep.sweeps.reports.wording import contrast_name, is_share, number, place, scaled
from setsweep.sweeps.statistics.contrasts import Contrast, contrasts
from setsweep.sweeps.study.design.configuration import DATA_NAME
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study


def comparison_notes(report: Report) -> list[str]:
    """The sentences of a report that compares; none of one that does not."""
    if not report.comparisons:
        return []
    asked = contrasts(report.study)
    return [
        _about_tests(report.study.compare, asked),
        *_about_intervals_together(report),
        *_about_looks(report.study),
        *_about_undefined(report),
        *_about_detectable(report, sum(contrast.primary for contrast in asked)),
        *_about_images(report),
        *_about_sets(report),
        *_about_equivalence(report.study.compare),
        *_about_tuning(report),
    ]


def _about_tests(compare: Compare, asked: list[Contrast]) -> str:
    percent = f"{100 * compare.confidence:g} %"
    first, further = (sum(contrast.primary == primary for contrast in asked) for primary in (True, False))
    paired = "" if compare.baseline is None else f"Δ is the arm minus {compare.baseline}, paired by seed, "
    metrics = " and ".join(dict.fromkeys(contrast.metric for contrast in asked if contrast.primary))
    return (
        f"{paired or 'Δ is the first arm minus the second, paired by seed, '}with the {percent} interval of each by "
        "itself, also beside a corrected p. p is of the two-sided paired t test, "
        f"{_how(compare, metrics, first, further)}; {SIGNIFICANT} marks p < {1 - compare.confidence:.3g}."
    )


def _how(compare: Compare, metrics: str, first: int, further: int) -> str:
    if compare.correction == "none":
        return f"not corrected for the study's {_comparisons(first + further)}"
    name = {"holm": "Holm", "bonferroni": "Bonferroni"}[compare.correction]
    primary = f"{name}-corrected over the study's {_comparisons(first)} by {metrics}"
    if not further:
        return primary
    return (
        f"{primary}; the {further} by other metrics are tested where that is significant, corrected over all "
        f"{further}, else exploratory: p in brackets, of that test alone"
    )


def _comparisons(count: int) -> str:
    return "one comparison" if count == 1 else f"{count} comparisons"


def _about_intervals_together(report: Report) -> list[str]:
    compare = report.study.compare
    known = [(c.details.simultaneous_low, c.details.simultaneous_high) for c in report.comparisons if c.details]
    if compare.correction == "none" or all(ends == (None, None) for ends in known):
        return []
    one_end = any((low is None) != (high is None) for low, high in known)
    sign = "; > 0 and < 0 tell the sign alone of what is significant, Holm's price for seeing more" if one_end else ""
    cover = f"cover all with {100 * compare.confidence:g} % and leave out 0 exactly where corrected p is significant"
    return [f"The intervals together {cover}{sign}."]


def _about_looks(study: Study) -> list[str]:
    hold, looks = "Intervals and p of differences hold", study.compare.looks
    if study.pilot is not None:
        pilot = f"the spread of the pilot's {study.pilot} seeds, which decided how many follow (Stein)"
        return [f"Intervals of means and differences and p are by {pilot}."]
    if looks is None:
        return []
    if looks == "anytime":
        return [f"{hold} however often one looks, from 5 seeds on (Lai's confidence sequence)."]
    numbers = ", ".join(map(str, looks))
    return [f"{hold} over the planned looks at {numbers} seeds together (Pocock's boundary)."]


def _about_undefined(report: Report) -> list[str]:
    missing = sum(c.p is None and c.n > 0 for c in report.comparisons)
    if not missing or report.study.compare.looks is not None:
        return []
    what = "1 difference has" if missing == 1 else f"{missing} differences have"
    why = "of one or two seeds, or of seeds that all differ by the same, no t test can be made"
    return [f"{what} neither p nor interval: {why}. In the correction that counts as p = 1."]


def _about_detectable(report: Report, family: int) -> list[str]:
    seen = [(c.metric, c.details.detectable) for c in report.comparisons if c.details]
    sizes = sorted((scaled(metric, size), number(metric, size), metric) for metric, size in seen if size is not None)
    if not sizes:
        return []
    ends = " to ".join(dict.fromkeys((sizes[0][1], sizes[-1][1])))
    unit = "points" if is_share(sizes[0][2]) else "labels"
    step = "" if report.study.compare.correction == "none" else f" at the first step of the correction over {family}"
    found = f"a true difference of {ends} {unit} is found with probability 0.8{step} (detectable)"
    return [f"No {SIGNIFICANT} is not equal: with so many seeds {found}."]


def _about_images(report: Report) -> list[str]:
    """What the table over test images says, and what could not be compared."""
    missing: dict[str, list[str]] = {}
    for each in report.over_images:
        if each.problem is not None:
            missing.setdefault(each.problem, []).append(place(contrast_name(report.study, each), each.point))
    told = [f"{'; '.join(where)} ({problem})" for problem, where in missing.items()]
    without = [f"Not compared over test images: {'; '.join(told)}."] if told else []
    if not any(each.by_seed for each in report.over_images):
        return without
    said = (
        "Over seeds and images: the interval of the difference, by itself, for another seed and other test images of "
        "the same kind (two-way analysis of variance). McNemar's exact test is of the two models of one seed: median "
        "[least, largest] over seeds, not corrected, and true of these models alone. Images that only one of the two "
        "has right are means over seeds."
    )
    return [said, *without]


def _about_sets(report: Report) -> list[str]:
    if not report.over_sets:
        known = [c for c in report.comparisons if c.role == "primary" and c.difference is not None]
        there = {c.point.get(DATA_NAME) for c in known}
        missing = [name for name in report.study.grid.get(DATA_NAME, ()) if name not in there]
        waits = f"Over data sets nothing is told before all have differences: {', '.join(missing)} has none yet."
        return [waits] if missing else []
    found = report.over_sets[0].found
    few = "the mean of the sets' differences with a t test over sets (random effects, equal weights)"
    many = "the median of pairwise means (Hodges and Lehmann) with Wilcoxon's signed-rank test"
    how = few if found.method == "mean" else many
    return [f"Over data sets a set counts once, whatever its seeds: {how}, corrected as p."]


def _about_equivalence(compare: Compare) -> list[str]:
    if compare.equivalent is None:
        return []
    margin = f"a difference of {compare.equivalent:g} points or more"
    return [f"Equality is claimed ({SIGNIFICANT}) where two one-sided tests reject {margin}, corrected as p."]


def _about_tuning(report: Report) -> list[str]:
    """Which of the differences are of an arm that was tuned against one that was not, or less."""
    tried = {each.arm: each.configurations for each in report.spent}
    pairs = dict.fromkeys((c.arm, c.baseline) for c in report.comparisons)
    unequal = [(arm, other) for arm, other in pairs if tried[arm] != tried[other]]
    told = "; ".join(f"{_tried(arm, tried)} against {_tried(other, tried)}" for arm, other in unequal)
    return [f"Not tuned alike: {told}."] if unequal else []


def _tried(arm: str, tried: dict[str, int]) -> str:
    return f"{arm} (tuned, {tried[arm]} configurations)" if tried[arm] > 1 else f"{arm} (untuned)"
