"""Which conformal sets there are: a score, how its thresholds are calibrated, and a target coverage."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

ScoreName = Literal["lac", "aps", "raps", "saps", "pas"]
Calibration = Literal["marginal", "classwise", "clustered", "interpolated"]

SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
CALIBRATIONS: tuple[Calibration, ...] = get_args(Calibration)

PATTERN = rf"(?:(?P<calibration>{'|'.join(CALIBRATIONS[1:])})_)?(?P<score>{'|'.join(SCORES)})(?P<level>\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class ConformalSets:
    """Sets that hold the label with a target coverage.

    Args:
        score: that classes are compared by, see `setsweep.trainables.conformal.scores`.
        calibration: whom the coverage is promised to: "marginal": examples alike; "classwise": each class; "clustered":
            clusters of classes; "interpolated": in between the first two.
        coverage: the target, between 0 and 1.
    """

    score: ScoreName
    calibration: Calibration
    coverage: float

    @property
    def name(self) -> str:
        """How they are spelled in the names of metrics: "lac90", "classwise_aps95"."""
        prefix = "" if self.calibration == "marginal" else f"{self.calibration}_"
        return f"{prefix}{self.score}{100 * self.coverage:.10g}"

    @classmethod
    def of_match(cls, found: re.Match[str]) -> ConformalSets:
        """Those that a match of `PATTERN` spells."""
        calibration = found["calibration"] or "marginal"
        return cls(found["score"], calibration, round(float(found["level"]) / 100, 12))  # type: ignore[arg-type]


def all_sets(
    coverages: Iterable[float], scores: Iterable[ScoreName], calibrations: Iterable[Calibration]
) -> tuple[ConformalSets, ...]:
    """Every score with every calibration at every coverage."""
    every = list(coverages)
    pairs = [(score, calibration) for score in scores for calibration in calibrations]
    return tuple(ConformalSets(*pair, coverage) for pair in pairs for coverage in every)
