"""The names of the metrics that a study has for its set sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from setsweep.trainables.settings.problems import unknown
from setsweep.trainables.settings.rules import Rule, listed, text

_GROUPS = ("few", "medium", "many")


def objectives(ks: Sequence[int]) -> list[str]:
    """The validation metrics that a search can maximise."""
    return [f"val/{name}" for name in accuracies(ks)]


def reported(ks: Sequence[int]) -> list[str]:
    """The test metrics that arms can be compared by."""
    groups = [f"{name}_{group}" for name in accuracies(ks) if name.startswith("macro_") for group in _GROUPS]
    return [f"test/{name}" for name in (*accuracies(ks), *groups, *(f"avg{k}_set_size" for k in ks))]


def accuracies(ks: Sequence[int]) -> list[str]:
    """Top-k and average-k accuracy for each k, plain and macro."""
    return [f"{macro}{rule}{k}_accuracy" for k in ks for macro in ("", "macro_") for rule in ("top", "avg")]


def k_of(metric: str) -> int:
    """The set size of a metric."""
    found = re.search(r"\d+", metric)
    assert found, f"{metric} has no k"
    return int(found[0])


def objective_rule(ks: Sequence[int]) -> Rule:
    """A validation metric of one of the set sizes."""
    names = objectives(ks)

    def check(value: object) -> object:
        if isinstance(value, str) and value.startswith("test/"):
            raise ValueError(f"must be a validation metric, as a choice made on test data spoils them, got {value!r}.")
        if not isinstance(value, str) or value not in names:
            raise ValueError(unknown("validation metric", value, names))
        return value

    return Rule("other", check)


def metrics_rule(ks: Sequence[int]) -> Rule:
    """A list of distinct test metrics."""
    names = reported(ks)

    def check(value: object) -> tuple[str, ...]:
        metrics: tuple[str, ...] = listed(text()).check(value)
        for metric in metrics:
            if metric not in names:
                raise ValueError(unknown("test metric", metric, names))
        if not metrics or len(set(metrics)) < len(metrics):
            raise ValueError(f"must be one metric or more, each once, got {list(metrics)!r}.")
        return metrics

    return Rule("other", check)
