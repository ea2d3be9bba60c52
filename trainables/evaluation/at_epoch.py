"""A metric read at the best epoch of another accuracy, as papers do that choose one model and read all numbers from it.

``test/top1_accuracy@avg5_accuracy`` is the test top-1 accuracy of the model whose validation average-5 accuracy was
best; ``test/top1_accuracy`` is that of the model which was best at top-1 itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import Metric


def value_at(result: RunResult, name: str) -> float | None:
    """What a metric was at the best epoch that its name says; None: it was not measured there.

    Args:
        result: of a run that is done.
        name: of a metric that is read at another's best epoch.
    """
    metric = Metric.parse(name)
    epoch = None if metric.at is None else result.best_epoch.get(metric.at.name)
    if epoch is None:
        return None
    own = replace(metric, at=None).name
    if own in result.curves:
        return result.curves[own][result.epochs.index(epoch)]
    return result.tested.get(epoch, {}).get(own)


def with_values_at(result: RunResult, names: Iterable[str]) -> RunResult:
    """The result with these metrics among its own, as far as they were measured; see `value_at`."""
    found = {name: value_at(result, name) for name in names}
    known = {name: value for name, value in found.items() if value is not None}
    return replace(result, metrics={**result.metrics, **known}) if known else result
