"""Which trial is the best: one rule, for the planner and for whoever shows it.

The mean over the seeds that all have in common, in which a run that diverged or failed counts as bad as can be; of
equals the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric

Values = Mapping[int, Mapping[int, float]]  # trial, seed

_TOO_MANY = 100  # times k: the size of the sets of a run that gives none


def value_in_search(result: RunResult, metric: str) -> float:
    """What a run counts for in a search: where it gives no number, as bad as can be (an accuracy of 0)."""
    value = result.metrics.get(metric, math.nan) if result.status == "done" else math.nan
    if math.isfinite(value):
        return value
    measured = Metric.parse(metric)
    return 0.0 if measured.is_accuracy else float(_TOO_MANY * (measured.k or 1))


def search_values(runs: Iterable[tuple[PlannedRun, RunResult | None]], metric: str) -> dict[int, dict[int, float]]:
    """The values of the trials of one arm at one point, by trial and seed; other runs are passed over."""
    found: dict[int, dict[int, float]] = {}
    for run, result in runs:
        if run.stage == "search" and run.trial is not None and result is not None:
            found.setdefault(run.trial, {})[run.seed] = value_in_search(result, metric)
    return found


def common_means(values: Values) -> dict[int, float]:
    """The mean of each trial over the seeds that all of them have, in the order of the seeds of the first."""
    trials = list(values.values())
    common = [seed for seed in (trials[0] if trials else ()) if all(seed in trial for trial in trials)]
    return {number: mean([trial[seed] for seed in common]) for number, trial in values.items()} if common else {}


def best_first(means: Mapping[int, float]) -> list[int]:
    """The trials by mean, of equals the first one first."""
    return sorted(means, key=lambda number: (-means[number], number))


def mean(values: Sequence[float]) -> float:
    """Summed in their order, so that it is the same wherever it is formed."""
    return sum(values) / len(values)
