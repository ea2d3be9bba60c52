"""The metrics that a study can name for its set sizes: to choose by, and to compare by."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.trainables.evaluation.metric import Metric, accuracies, all_metrics
from setsweep.trainables.settings.problems import unknown
from setsweep.trainables.settings.rules import Rule, listed, text


def objective_rule(ks: Sequence[int]) -> Rule:
    """A validation metric of one of the set sizes."""
    names = [metric.on("val").name for metric in accuracies(ks)]

    def check(value: object) -> object:
        known = Metric.find(value) if isinstance(value, str) else None
        if known is not None and known.split == "test":
            raise ValueError(f"must be a validation metric, as a choice made on test data spoils them, got {value!r}.")
        if not isinstance(value, str) or value not in names:
            raise ValueError(unknown("validation metric", value, names))
        return value

    return Rule("other", check)


def metrics_rule(ks: Sequence[int]) -> Rule:
    """A list of distinct test metrics."""
    names = [metric.on("test").name for metric in all_metrics(ks)]

    def check(value: object) -> tuple[str, ...]:
        metrics: tuple[str, ...] = listed(text()).check(value)
        for metric in metrics:
            if metric not in names:
                raise ValueError(unknown("test metric", metric, names))
        if not metrics or len(set(metrics)) < len(metrics):
            raise ValueError(f"must be one metric or more, each once, got {list(metrics)!r}.")
        return metrics

    return Rule("other", check)
