"""What the tests of a study will be able to see, said before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.reports.wording import is_accuracy, scaled
from setsweep.sweeps.statistics.aggregates import aggregate
from setsweep.sweeps.statistics.comparisons import compare
from setsweep.sweeps.statistics.contrasts import contrasts
from setsweep.sweeps.statistics.details import first_level
from setsweep.sweeps.statistics.methods.power import detectable
from setsweep.sweeps.statistics.methods.student import MIN_SPREAD
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult


def smallest_difference(study: Study, runs: Sequence[tuple[PlannedRun, RunResult | None]] = ()) -> str:
    """One sentence: the smallest true difference that a test finds with probability 0.8.

    Empty without a comparison, and where the number of seeds follows from a precision.

    Args:
        study: with its seeds to confirm with, and what it compares.
        runs: of the study, with the results that there are: they tell how large a standard deviation is.
    """
    family, n = sum(contrast.primary for contrast in contrasts(study)), len(study.confirm_seeds)
    if not family or study.pilot is not None:
        return ""
    if n < 3:
        return f"With {n} {'seed' if n == 1 else 'seeds'} to confirm with no difference can be tested: it takes 3."
    alone = detectable(n, alpha=1 - study.compare.confidence)
    first = detectable(n, alpha=first_level(study.compare, family))
    together = "" if alone == first else f", {first:.1f} at the first step of the correction over {family}"
    return (
        f"{n} seeds find a difference of {alone:.1f} standard deviations with probability 0.8{together} "
        f"(of differences on a seed{_known(study, runs)})."
    )


def _known(study: Study, runs: Sequence[tuple[PlannedRun, RunResult | None]]) -> str:
    """How large a standard deviation is, of the primary metric, where results tell."""
    if not is_accuracy(study.primary):
        return ""
    found = compare(aggregate(runs, confidence=study.compare.confidence), study)
    stds = sorted(scaled(c.metric, c.std) for c in found if c.role == "primary" and c.std is not None)
    stds = [std for std in stds if std > MIN_SPREAD]
    if not stds:
        return ""
    ends = " to ".join(dict.fromkeys(f"{std:.2f}" for std in (stds[0], stds[-1])))
    return f"; those so far have {ends} points"
