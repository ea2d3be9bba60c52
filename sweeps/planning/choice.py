"""Which trial is the best: one rule, for the planner and for whoever shows it.

The mean over the seeds that all have in common, in which a run that diverged or failed, or whose sets are saturated,
counts as bad as can be; of equals the first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import value_at
from setsweep.trainables.evaluation.metric import Metric, set_size

Values = Mapping[int, Mapping[int, float]]  # trial, seed

SATURATED = 1.2
"""Average-k sets that hold more than so many times k labels on validation are saturated: where thousands of scores are
equal no threshold parts them, the sets ignore k, and the larger ones hit more often. A threshold that is found on the
split itself gives k on average but for ties, so that 1.2 is far from what chance makes."""

_TOO_MANY = 100  # times k: the size of the sets of a run that gives none


def value_in_search(result: RunResult, metric: str, *, saturated: bool = False) -> float:
    """What a run counts for in a search: where it gives no number, as bad as can be (an accuracy of 0).

    Args:
        result: of the run.
        metric: on validation.
        saturated: whether a run whose sets are saturated counts by its number all the same.
    """
    value = result.metrics.get(metric, math.nan) if result.status == "done" else math.nan
    if math.isfinite(value) and (saturated or not is_saturated(result, metric)):
        return value
    measured = Metric.parse(metric)
    return 0.0 if measured.is_accuracy else float(_TOO_MANY * (measured.k or 1))


def is_saturated(result: RunResult, metric: str) -> bool:
    """Whether the sets that a metric is of hold more than `SATURATED` times k labels on validation, as far as known."""
    size = size_of_sets(result, metric)
    return size is not None and size > SATURATED * (Metric.parse(metric).k or 1)


def size_of_sets(result: RunResult, metric: str) -> float | None:
    """The mean size of the average-k sets that a metric is of, on validation and at its epoch; None: not known."""
    name, elsewhere = _sets_of(metric)
    if name is None or result.status != "done":
        return None
    return value_at(result, name) if elsewhere else result.metrics.get(name)


@lru_cache
def _sets_of(metric: str) -> tuple[str | None, bool]:
    """The name of the size of a metric's average-k sets, and whether it is read at the epoch of another accuracy."""
    measured = Metric.parse(metric)
    if measured.rule != "avg" or measured.k is None:
        return None, False
    own = set_size(measured.k, split="val")
    elsewhere = measured.criterion != own.criterion
    return (replace(own, at=measured.criterion) if elsewhere else own).name, elsewhere


def search_values(
    runs: Iterable[tuple[PlannedRun, RunResult | None]], metric: str, *, saturated: bool = False
) -> dict[int, dict[int, float]]:
    """The values of the trials of one arm at one point, by trial and seed; other runs are passed over.

    See `value_in_search`.
    """
    found: dict[int, dict[int, float]] = {}
    for run, result in runs:
        if run.stage == "search" and run.trial is not None and result is not None:
            found.setdefault(run.trial, {})[run.seed] = value_in_search(result, metric, saturated=saturated)
    return found


def common_means(values: Values) -> dict[int, float]:
    """The mean of each trial over the seeds that all of them have, in the order of the seeds of the first."""
    trials = list(values.values())
    common = [seed for seed in (trials[0] if trials else ()) if all(seed in trial for trial in trials)]
    return {number: mean([trial[seed] for seed in common]) for number, trial in values.items()} if common else {}


def best_first(means: Mapping[int, float], stopped: Collection[int] = ()) -> list[int]:
    """The trials by mean, of equals the first one first; those that were stopped before their end after all others."""
    return sorted(means, key=lambda number: (number in stopped, -means[number], number))


def stopped_trials(runs: Iterable[tuple[PlannedRun, RunResult | None]]) -> dict[int, int]:
    """The trials of one arm at one point that were stopped before their end, with the epoch after which they were."""
    return {run.trial: result.pruned for run, result in runs if run.trial is not None and result and result.pruned}


def mean(values: Sequence[float]) -> float:
    """Summed in their order, so that it is the same wherever it is formed."""
    return sum(values) / len(values)
