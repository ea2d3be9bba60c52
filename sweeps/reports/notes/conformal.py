"""The sentences of a report about conformal sets: what they were calibrated on, and what that promises."""

from __future__ import annotations

from setsweep.data.user_function import is_own
from setsweep.sweeps.study.study import Study
from setsweep.trainables.conformal.enough import fewest
from setsweep.trainables.evaluation.metric import accuracy

CALIBRATION = "data.calibration"


def conformal_notes(study: Study) -> list[str]:
    """Whether the coverage of conformal sets is promised, and to whom; nothing where there are none."""
    if not study.coverage:
        return []
    at = accuracy("avg", study.k[-1]).name
    read = f"Conformal sets are those of the epoch that is best on validation by {at}, where nothing else is said."
    return [_about_calibration(study), read, *_about_kinds(study)]


def _about_calibration(study: Study) -> str:
    shares = study.grid.get(CALIBRATION, (study.data.get("calibration", 0),))
    broken = (
        "conformal sets are calibrated on the validation examples that epochs and hyperparameters were chosen by, so "
        "that exchangeability is broken and no coverage is promised; data.calibration sets examples apart for them."
    )
    apart = (
        "conformal sets are calibrated on a part of the validation examples that no choice has seen, drawn with each "
        "seed: they promise their coverage for test examples that are exchangeable with those."
    )
    if is_own(study.data["name"]) and not any(shares):
        return f"Unless the data have a calibration split of their own, {broken}"
    if all(shares):
        return apart[0].upper() + apart[1:]
    return f"Where {CALIBRATION} is 0, {broken}" if any(shares) else broken[0].upper() + broken[1:]


def _about_kinds(study: Study) -> list[str]:
    least = ", ".join(f"{fewest(coverage)} for {100 * coverage:g} %" for coverage in study.coverage)
    said = {
        "classwise": f"A class with too few calibration examples for a threshold of its own ({least}) is in every set.",
        "clustered": "Clusters promise their coverage as far as the scores of their classes are alike.",
        "interpolated": "Interpolated thresholds promise, as a union bound, to miss at most twice what was asked.",
    }
    return [sentence for name, sentence in said.items() if name in study.conformal.calibrations]
