"""Whether the study says anything, where runs fail, and where to spend the next runs, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from setsweep.sweeps.planning.choice import SATURATED
from setsweep.sweeps.reports.sensitivity.found import Findings, OneHyperparameter
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.reports.sensitivity.tried import Tried
from setsweep.sweeps.reports.sensitivity.words import p_text, points
from setsweep.sweeps.reports.wording import setting
from setsweep.sweeps.statistics.sensitivity.failures import Cliff, FailureRate
from setsweep.sweeps.statistics.sensitivity.health import Advice
from setsweep.sweeps.statistics.sensitivity.shares.crossed import Shares
from setsweep.trainables.evaluation.metric import Metric


def health_sentences(findings: Findings, found: Sensitivity) -> Iterator[str]:
    """No effect, the best at the boundary, cliffs and failures, more seeds or more trials."""
    confidence = found.study.compare.confidence
    yield from _too_large(findings.tried)
    for one in findings.along:
        yield from _effect(one, confidence)
        yield from _edge(one)
        yield from _failures(findings, one, confidence)
    yield from _interaction(findings, confidence)
    if findings.advice is not None:
        yield from _advice(findings, findings.advice)


def _too_large(tried: Tried) -> Iterator[str]:
    if tried.too_large:
        k = Metric.parse(tried.metric).k
        yield (
            f"{tried.too_large} runs count as failed, as their sets hold more than {SATURATED:g} x {k} labels on "
            "average: their scores saturate, so that no threshold parts them."
        )


def _interaction(findings: Findings, confidence: float) -> Iterator[str]:
    """Of a grid of two: where means over the other hyperparameter say little."""
    if not isinstance(findings.shares, Shares) or len(findings.tried.dimensions) != 2:
        return
    names = [each.name for each in findings.tried.dimensions]
    both = findings.shares.of(*names)
    if both.p is not None and both.p <= 1 - confidence:
        yield (
            f"{names[0]} and {names[1]} depend on each other ({both.share:.0%} of the variance, {p_text(both.p)}): "
            "what is best of one depends on the other, so go by the combinations rather than by the means."
        ).replace("%", " %")


def _effect(one: OneHyperparameter, confidence: float) -> Iterator[str]:
    if one.no_effect is not None and one.no_effect > 1 - confidence:
        yield (
            f"no effect of {one.dimension.name} is seen (F test, {p_text(one.no_effect)}), which is not "
            "to say that there is none."
        )


def _edge(one: OneHyperparameter) -> Iterator[str]:
    """Of a search; that of a plateau stands in its sentence."""
    if one.at_edge is not None:
        yield (
            f"the best configuration lies at the {one.at_edge} end of the range of {one.dimension.name}: a wider "
            "range may hold a better one."
        )


def _failures(findings: Findings, one: OneHyperparameter, confidence: float) -> Iterator[str]:
    name = one.dimension.name
    values = [setting(own[name]) for own in findings.tried.configurations]
    if one.cliff is not None and one.cliff.p <= 1 - confidence:
        yield f"runs fail on the {one.cliff.side} side of {name}: {_cliff(one.cliff, values)}."
    elif one.rates:
        rates = ", ".join(f"{_stretch(each, values)}: {each.failed} of {each.runs}" for each in one.rates)
        yield f"failures over {name}, no cliff: {rates}."


def _cliff(cliff: Cliff, values: Sequence[str]) -> str:
    bad, good = cliff.failing, cliff.elsewhere
    edge = f"between {values[cliff.below]} and {values[cliff.above]}"
    return (
        f"a cliff {edge} ({p_text(cliff.p)}): {bad.failed} of {bad.runs} fail there, {_rate(bad)}, "
        f"and {good.failed} of {good.runs} elsewhere, {_rate(good)}"
    )


def _stretch(each: FailureRate, values: Sequence[str]) -> str:
    first, last = values[each.first], values[each.last]
    return first if first == last else f"{first} to {last}"


def _rate(each: FailureRate) -> str:
    return f"{100 * each.low:.0f} to {100 * each.high:.0f} %"


def _advice(findings: Findings, advice: Advice) -> Iterator[str]:
    if advice.more == "neither":
        yield (f"the configurations can't be told apart ({p_text(advice.p)}): choice and shares rest on little.")
        return
    if findings.tried.designed:
        yield f"{100 * advice.reliability:.0f} % of the variance of these means is the configurations' own."
        return
    yield (
        f"more {advice.more} would help the choice more: twice the seeds is expected to gain "
        f"{points(advice.gain_of_seeds)} points, twice the trials {points(advice.gain_of_trials)}."
    )
