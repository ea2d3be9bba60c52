"""Confirmation to a precision: how many seeds the intervals wanted need, from a pilot (Stein 1945).

The number follows from the spread of the pilot alone, and is not looked at again: to stop as soon as an interval looks
narrow enough would cover too rarely.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Pairs = Sequence[tuple[PlannedRun, RunResult]]


@dataclass
class Pilots:
    """The pilots of the arms at one point of the grid, and when all are there, how many seeds follow from them.

    Args:
        study: says how many arms there are, and how narrow the intervals shall be.
    """

    study: Study
    _values: dict[str, dict[int, float]] = field(default_factory=dict)

    def tell(self, arm: str, pairs: Pairs) -> None:
        """Take the results of an arm's pilot."""
        metric = self.study.primary
        done = {run.seed: result.metrics.get(metric, math.nan) for run, result in pairs if result.status == "done"}
        self._values[arm] = {seed: value for seed, value in done.items() if math.isfinite(value)}

    @property
    def seeds(self) -> int | None:
        """How many seeds every arm at this point needs, those of the pilot included; None while a pilot is missing.

        The largest number that any arm's mean or difference to the baseline asks for.
        """
        if len(self._values) < len(self.study.arms):
            return None
        wanted, pilot = self.study.confirm, len(self.study.confirm_seeds)
        assert wanted.half_width is not None
        samples = [list(values.values()) for values in self._values.values()]
        samples += _differences(self._values, self.study.compare.baseline)
        confidence = self.study.compare.confidence
        needs = [seeds_for(sample, wanted.half_width, confidence) for sample in samples if len(sample) > 1]
        return min(max([pilot, *needs]), max(wanted.most, pilot))


def seeds_for(sample: Sequence[float], half_width: float, confidence: float) -> int:
    """How many values a mean's interval needs to be so narrow, by Stein's rule: ceil((t s / h)^2), t, s of the pilot.

    Args:
        sample: the pilot, at least two values.
        half_width: h, in their unit.
        confidence: of the interval.
    """
    from scipy.stats import t

    quantile = float(t.ppf((1 + confidence) / 2, len(sample) - 1))
    return max(len(sample), math.ceil((quantile * statistics.stdev(sample) / half_width) ** 2))


def _differences(values: Mapping[str, Mapping[int, float]], baseline: str | None) -> list[list[float]]:
    """Of each arm to the baseline, paired by seed."""
    of_baseline = values.get(baseline or "", {})
    return [
        [own[seed] - of_baseline[seed] for seed in own if seed in of_baseline]
        for arm, own in values.items()
        if arm != baseline
    ]
