"""The sensitivity of a study in words and tables, in the order in which they are read, before any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from setsweep.sweeps.planning.samplers.suggestions import sampler_of
from setsweep.sweeps.reports.sensitivity.curve_table import curve_table, plateau_sentences
from setsweep.sweeps.reports.sensitivity.dimension import Dimension
from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.sensitivity.health_sentences import health_sentences
from setsweep.sweeps.reports.sensitivity.over_points import everywhere_blocks
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.reports.sensitivity.share_table import share_blocks
from setsweep.sweeps.reports.sensitivity.tuning_table import tuning_blocks
from setsweep.sweeps.reports.sensitivity.words import Block, percent, place
from setsweep.sweeps.reports.wording import long_metric_label, seeds, setting, settings

_SHOWN = 6  # combinations that are named


def blocks(found: Sensitivity) -> list[Block]:
    """Curves, plateaus, shares, one value everywhere, tuning curves, two hyperparameters, health."""
    percentage = percent(found.study.compare.confidence)
    shown: list[Block] = [*_progress(found)]
    for each in found.told:
        shown += _curves(found, each, percentage)
    for each in found.told:
        shown += share_blocks(each)
    shown += everywhere_blocks(found)
    shown += tuning_blocks(found)
    for each in found.told:
        shown += _two_together(each, percentage)
    for each in found.told:
        shown += [f"{place(each.tried)}: {sentence}" for sentence in health_sentences(each, found)]
    return [*shown, *(_cannot_tell(found, each) for each in found.told if not each.tried.designed), *_about(found)]


def _progress(found: Sensitivity) -> Iterator[str]:
    if found.waiting:
        yield f"{found.waiting} runs of the sensitivity study are waiting: what follows is of those that are done."


def _curves(found: Sensitivity, each: Findings, percentage: str) -> Iterator[Block]:
    """The curve of each hyperparameter and its plateau, on test and on validation."""
    twins = [other for other in found.on_validation if _same(other, each) and each in found.designs]
    for number, one in enumerate(each.along):
        if one.curve is not None:
            yield curve_table(each, one, percentage)
        on_test = [*plateau_sentences(each, one)]
        for twin in twins:
            on_validation = [*plateau_sentences(twin, twin.along[number])]
            same = on_test == on_validation
            also = ["On validation: the same."] if same else [f"On validation: {text}" for text in on_validation]
            on_test += also if on_test else []
        yield from on_test


def _same(one: Findings, other: Findings) -> bool:
    return (one.tried.arm, one.tried.point) == (other.tried.arm, other.tried.point)


def _two_together(each: Findings, percentage: str) -> Iterator[str]:
    """Of a full grid of two: which combinations are as good as the best, as far as can be told."""
    if each.equal is None:
        return
    members, best = each.equal
    configurations = each.tried.configurations
    inside = [settings(own) for own, member in zip(configurations, members, strict=True) if member]
    more = f"; and {len(inside) - _SHOWN} more" if len(inside) > _SHOWN else ""
    named = f": {'; '.join(inside[:_SHOWN])}{more}" if len(inside) > 1 else ""
    yield (
        f"{place(each.tried)}: of {len(configurations)} combinations {len(inside)} can't be told from the best, "
        f"{settings(configurations[best])} ({percentage}){named}."
    )


def _cannot_tell(found: Sensitivity, each: Findings) -> str:
    tried = each.tried
    axes = ", ".join(_axis(tried.arm, each) for each in tried.dimensions[:2])
    assert found.study.search is not None
    sampler = sampler_of(found.study.search, found.study.arms[tried.arm])
    differ = "differ in all hyperparameters at once" if len(tried.dimensions) > 1 else "are no grid"
    count = len(tried.configurations)
    who = f"the {count} trials of this search ({sampler}) {differ}, so they give"
    if count == 1:
        who = f"the one trial of this search that has a result ({sampler}) gives"
    return (
        f"{place(tried)}: {who} no curve and no plateau; and such scores are of validation, on which the choice was "
        f"made. A sensitivity study does: sensitivity: {{{axes}, seeds: 5}}."
    )


def _axis(arm: str, varied: Dimension) -> str:
    """How a sensitivity study would spell it: a number of values on a range, or those of a choice."""
    own = "." not in varied.name
    values = f"[{', '.join(setting(value) for value in varied.scale.values)}]" if varied.scale.kind == "order" else "9"
    return f"{f'{arm}.' if own else ''}{varied.name}: {values}"


def _about(found: Sensitivity) -> Sequence[str]:
    """What the numbers are."""
    confidence = percent(found.study.compare.confidence)
    about = []
    if found.designs:
        own = found.study.sensitivity
        assert own is not None
        where = "what the search has chosen" if own.at == "chosen" and found.study.search else "its given value"
        where = "its default" if own.at == "default" else where
        about.append(
            f"All is {long_metric_label(found.metric)} of seeds {seeds(own.seeds)}, the same for all; what is not "
            f"varied stands at {where}. ± is the half-width of the {confidence} Student-t interval of one mean, and "
            "all of these together cover the curve far less often than that. 'whole curve' covers all true means at "
            "once; where the 'shapes' of two values do not overlap, they are told apart, all pairs taken together "
            "(two-way model on logits, studentised range)."
        )
    return about
