"""One attempt at a run in which nothing escapes: an error becomes a failed result with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from data.dataset import Dataset
from trainables.loop import train
from trainables.run_config import RunConfig, RunResult, failed


def attempt(config: RunConfig, dataset: Callable[[], Dataset], *, attempts: int = 1, **options: Any) -> RunResult:
    """`train`, with any exception recorded as a failed run.

    Args:
        config: what to train.
        dataset: gives its data; may raise like anything else.
        attempts: how often this run has been started, this time included.
        options: passed on to `train`.
    """
    started = time.time()
    try:
        return replace(train(config, dataset=dataset(), **options), attempts=attempts)
    except Exception as error:  # noqa: BLE001 - a run must never take the sweep with it, whatever it raises
        return failed(config, f"{type(error).__name__}: {error}", started=started, attempts=attempts)
