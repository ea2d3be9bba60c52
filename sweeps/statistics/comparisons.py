"""Which differences between arms are real: every contrast of a study, paired by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.statistics.contrasts import Contrast, contrasts
from setsweep.sweeps.statistics.details import Details, Found, details_of
from setsweep.sweeps.statistics.methods.corrections import Role, Verdict, gatekept
from setsweep.sweeps.statistics.methods.student import is_below_level
from setsweep.sweeps.statistics.repeated import looked_at
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study, point_key


@dataclass(frozen=True, kw_only=True)
class Comparison(OfCandidate):
    """Arm minus baseline on one metric at one point of the grid; see `PairedDifference`.

    Args:
        candidate: the arm's confirmed configuration there.
        role: "primary"; "secondary", tested because the primary is significant there; or "exploratory", not tested.
        p_corrected: `p` corrected over all comparisons of its family that the study asks for; None where `p` is and
            where it is exploratory.
        significant: whether `p_corrected` is below 1 - confidence.
        n: how many seeds both have.
        std: of the differences.
        details: of the primary metric alone; None elsewhere.
    """

    candidate: Candidate
    baseline: str
    metric: str
    role: Role
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_corrected: float | None
    significant: bool
    n: int
    std: float | None
    details: Details | None = None

    @property
    def numbers(self) -> dict[str, Any]:
        """All that is said of the difference, its details on the same level where it has them."""
        own = {name: value for name, value in vars(self).items() if name not in ("candidate", "details")}
        return own | ({} if self.details is None else asdict(self.details))


def compare(aggregates: Sequence[Aggregate], study: Study) -> list[Comparison]:
    """Every contrast of the study whose arm has results, in the order of `contrasts`.

    The primary metric is corrected over all contrasts; the other metrics are tested where the primary is significant,
    see `gatekept`. The families are those that the study asks for: what is not there yet, or undefined, counts in them.
    """
    confirmed: dict[tuple[str, str, str], Aggregate] = {}
    for each in aggregates:
        if each.stage == "confirm":
            confirmed.setdefault((each.arm, point_key(each.point), each.metric), each)
    found = [_found(contrast, confirmed, study) for contrast in contrasts(study)]
    verdicts = _verdicts(found, study.compare)
    first = [each for each in found if each.contrast.primary]
    details = dict(zip((each.contrast.place for each in first), details_of(first, study), strict=True))
    return [
        _comparison(each, aggregate.candidate, verdict, details[each.contrast.place] if each.contrast.primary else None)
        for each, verdict in zip(found, verdicts, strict=True)
        if (aggregate := confirmed.get(_key(each.contrast, each.contrast.arm)))
    ]


def _key(contrast: Contrast, arm: str) -> tuple[str, str, str]:
    return arm, point_key(contrast.point), contrast.metric


def _found(contrast: Contrast, confirmed: Mapping[tuple[str, str, str], Aggregate], study: Study) -> Found:
    values, baseline = (
        {} if (side := confirmed.get(_key(contrast, arm))) is None else side.numbers
        for arm in (contrast.arm, contrast.baseline)
    )
    in_two = study.pilot is not None
    difference = looked_at(values, baseline, study.compare, seeds=study.confirm_seeds, pilot=in_two)
    return Found(contrast, values, baseline, difference)


def _verdicts(found: Sequence[Found], settings: Compare) -> list[Verdict]:
    if settings.correction == "none":
        return [_uncorrected(each, settings.confidence) for each in found]
    gated = gatekept(
        {each.contrast.place: each.difference.p for each in found if each.contrast.primary},
        {(each.contrast.place, each.contrast.metric): each.difference.p for each in found if not each.contrast.primary},
        settings.correction,
        confidence=settings.confidence,
    )
    return [
        gated.primary[each.contrast.place]
        if each.contrast.primary
        else gated.secondary[each.contrast.place, each.contrast.metric]
        for each in found
    ]


def _uncorrected(found: Found, confidence: float) -> Verdict:
    p = found.difference.p
    role: Role = "primary" if found.contrast.primary else "secondary"
    return Verdict(role=role, p_corrected=p, significant=is_below_level(p, confidence))


def _comparison(found: Found, candidate: Candidate, verdict: Verdict, details: Details | None) -> Comparison:
    difference = found.difference
    return Comparison(
        candidate=candidate,
        baseline=found.contrast.baseline,
        metric=found.contrast.metric,
        role=verdict.role,
        difference=difference.difference,
        ci_low=difference.ci_low,
        ci_high=difference.ci_high,
        p=difference.p,
        p_corrected=verdict.p_corrected,
        significant=verdict.significant,
        n=difference.n,
        std=difference.std,
        details=details,
    )
