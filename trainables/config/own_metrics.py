"""Metrics of a user's own: functions of the scores and labels of a split, ``package.module:function``.

    def mean_rank(scores, labels):
        own = scores.gather(1, labels.unsqueeze(1))
        return -(scores > own).sum(1).double()

A function is given the scores (examples, classes) of the head that predicts and the labels (examples,), both whole, and
gives one number, or one for each example whose mean is taken. More is better: what should be small is given with a
minus, since every metric is read at the epoch where it is best on validation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from setsweep.data.user_function import find_function
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import LARGEST

OwnMetrics = Mapping[str, Callable[[Tensor, Tensor], Any]]

TRIED = 16  # examples on which a metric is tried


def own_metrics(config: RunConfig) -> OwnMetrics:
    """The functions of a configuration's own metrics, by name. Raises ValueError: one can't be had."""
    return {name: find_function(name, "metrics") for name in config.metrics}


def measured_by(metrics: OwnMetrics, scores: Tensor, labels: Tensor) -> dict[str, float]:
    """What each metric gives.

    Args:
        metrics: by name.
        scores: (examples, classes).
        labels: (examples,).

    Raises:
        ValueError: one gives no finite number, or one above 1e100.
    """
    return {name: _number(name, function(scores, labels), len(labels)) for name, function in metrics.items()}


def check_metrics(config: RunConfig, num_classes: int) -> None:
    """Try a configuration's own metrics on scores of chance.

    Raises:
        ValueError: one can't be had, changes what it is given, or gives no finite number, or one above 1e100.
    """
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(TRIED, num_classes, generator=generator)
    labels = torch.randint(num_classes, (TRIED,), generator=generator)
    for name, function in own_metrics(config).items():
        given = scores.clone(), labels.clone()
        try:
            found = function(*given)
        except Exception as error:  # a function of the user's can raise anything
            raise ValueError(f"{name} must take scores and labels, got {type(error).__name__}: {error}") from error
        _number(name, found, TRIED)
        if not (torch.equal(given[0], scores) and torch.equal(given[1], labels)):
            raise ValueError(f"{name} must leave scores and labels as they are, got others after the call.")


def _number(name: str, found: object, examples: int) -> float:
    if isinstance(found, Tensor) and found.shape in ((), (examples,)):
        found = found.double().mean().item()
    if isinstance(found, Sequence | Tensor) or not _is_number(found):
        got = f"a tensor of shape {tuple(found.shape)}" if isinstance(found, Tensor) else repr(found)
        raise ValueError(f"{name} must give one finite number, or one for each example, got {got}.")
    return float(found)  # type: ignore[arg-type]  # NumPy's numbers as well


def _is_number(found: object) -> bool:
    try:
        return math.isfinite(found) and abs(float(found)) <= LARGEST  # type: ignore[arg-type]  # that is what is asked
    except (TypeError, OverflowError):
        return False
