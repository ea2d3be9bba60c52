"""One attempt at some runs in which nothing escapes: an error becomes a failed result with its reason."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import Cause, RunResult, Trace, failed
from setsweep.trainables.last_lines import last_lines
from setsweep.trainables.loop import train_seeds
from setsweep.trainables.places import AnyPath
from setsweep.trainables.seed_group import Report


def attempt(
    configs: Sequence[RunConfig],
    dataset: Callable[[RunConfig], Dataset],
    *,
    attempts: int = 1,
    checkpoint: AnyPath | None = None,
    keep_models: Sequence[KeepModel | None] = (),
    keep_scores: Sequence[AnyPath | None] = (),
    on_epoch: Report | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[RunResult]:
    """`train_seeds`, with any exception recorded as a failed run.

    An error of a seed group need not be one of each seed: they are tried again in halves, down to the single seed.
    Seeds that are too many for the memory together thus still have their results. The halves write to the same
    checkpoint one after the other: after a kill the half in progress is resumed, and those before it are trained again.

    Args:
        configs: what to train, equal but for the seed.
        dataset: gives the data of each; may raise like anything else.
        attempts: how often these runs have been started, this time included.
        checkpoint: see `trainables.loop.train`.
        keep_models, keep_scores, on_epoch, stop: see `trainables.loop.train_seeds`.

    Raises:
        trainables.checkpoint.Interrupted: it was to stop, which is no failure.
    """
    started = time.time()
    keep_models = keep_models or [None] * len(configs)
    with last_lines() as shown:
        try:
            datasets = [dataset(config) for config in configs]
            results = train_seeds(
                configs,
                datasets=datasets,
                checkpoint=checkpoint,
                keep_models=keep_models,
                keep_scores=keep_scores,
                on_epoch=on_epoch,
                stop=stop,
            )
            return [replace(result, attempts=attempts) for result in results]
        except Exception as error:  # noqa: BLE001 - a run must never take the sweep with it, whatever it raises
            reason = f"{type(error).__name__}: {error}"
            cause: Cause = "memory" if isinstance(error, torch.OutOfMemoryError) else "error"
            trace = Trace(traceback=traceback.format_exc(), output=shown())
    if len(configs) == 1:
        return [failed(configs[0], reason, cause=cause, started=started, attempts=attempts, trace=trace)]
    half = (len(configs) + 1) // 2
    return [
        result
        for part in (slice(half), slice(half, None))
        for result in attempt(
            configs[part],
            dataset,
            attempts=attempts,
            checkpoint=checkpoint,
            keep_models=keep_models[part],
            keep_scores=keep_scores[part],
            on_epoch=on_epoch,
            stop=stop,
        )
    ]
