"""Which trials of a search are stopped before their end: the rules of Optuna's pruners, as bounds for the next batch.

The bounds of a batch follow from the trials of finished batches alone, and go into the configurations of its runs. So
what is stopped, and when, is a function of the study, the same on any number of workers and after any interruption; a
pruner that looked at whatever has finished would depend on who is fast. The price is that trials of one batch do not
stop each other, nor any of the first batches before `startup` trials have ended.

What is compared is the objective that a trial would have if it ended at that epoch: with ``training.keep: best`` the
mean over its seeds of the best epoch so far. No trial is stopped before epoch `warmup`. With these as intermediate
values the bounds are those of Optuna's `MedianPruner` and `SuccessiveHalvingPruner`, which the tests hold them to.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Pruner
from setsweep.trainables.config.run_result import RunResult

Bounds = tuple[tuple[int, float], ...]
Curve = Mapping[int, float]


@dataclass(frozen=True)
class Ended:
    """A trial that has ended, every seed with a number.

    Args:
        curve: by evaluated epoch, the objective that it would have had if it had ended there.
        stopped: whether it was stopped before its end.
    """

    curve: Curve
    stopped: bool


def ended(pairs: Sequence[tuple[PlannedRun, RunResult]], metric: str) -> Ended | None:
    """How a trial has ended; None: a run of it gives no number."""
    if any(result.status != "done" or metric not in result.curves for _, result in pairs):
        return None
    curves = [_so_far(result, metric, keep=run.config.training.keep) for run, result in pairs]
    common = [epoch for epoch in curves[0] if all(epoch in curve for curve in curves)]
    means = {epoch: sum(curve[epoch] for curve in curves) / len(curves) for epoch in common}
    return Ended(means, any(result.pruned is not None for _, result in pairs))


def bounds(pruner: Pruner, trials: Sequence[Ended]) -> Bounds:
    """Epochs, and the values below which a trial is stopped there.

    Args:
        pruner: the rule.
        trials: those of the batches before.
    """
    whole = [trial for trial in trials if not trial.stopped]
    if len(whole) < pruner.startup:
        return ()
    if pruner.name == "median":
        known = [trial.curve for trial in whole]
        epochs = [epoch for epoch in _epochs(known) if epoch >= pruner.warmup]
        return tuple((epoch, statistics.median(_at(known, epoch))) for epoch in epochs)
    known = [trial.curve for trial in trials]
    found = ((epoch, _halving(_at(known, epoch), pruner.factor)) for epoch in _rungs(pruner, _epochs(known)))
    return tuple((epoch, bound) for epoch, bound in found if bound is not None)


def _so_far(result: RunResult, metric: str, *, keep: str) -> Curve:
    values = result.curves[metric]
    return dict(zip(result.epochs, itertools.accumulate(values, max) if keep == "best" else values, strict=True))


def _epochs(curves: Sequence[Curve]) -> list[int]:
    return sorted({epoch for curve in curves for epoch in curve})


def _at(curves: Sequence[Curve], epoch: int) -> list[float]:
    return [curve[epoch] for curve in curves if epoch in curve]


def _rungs(pruner: Pruner, epochs: Sequence[int]) -> list[int]:
    """Of the evaluated epochs the first at or after each power of the factor times those that every trial is given."""
    found: dict[int, None] = {}
    rung = max(pruner.warmup, 1)
    while epochs and rung <= epochs[-1]:
        found[next(epoch for epoch in epochs if epoch >= rung)] = None
        rung *= pruner.factor
    return list(found)


def _halving(values: Sequence[float], factor: int) -> float | None:
    """What a trial must reach to be among the best one in `factor` of those that have come here, itself counted."""
    going_on = max((len(values) + 1) // factor, 1)
    return sorted(values, reverse=True)[going_on - 1] if going_on <= len(values) else None
