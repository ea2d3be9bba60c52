"""The training loop: a RunConfig in, a RunResult out; or a seed group, the seeds of one configuration, together.

The path is the same on CPU and CUDA, for mini-batches and full batches, for one seed and for a group.

A run that is stopped goes on from the step after its last checkpoint, in the middle of an epoch: the checkpoint holds
the models, the optimisers, the best epochs so far with their weights, every generator, and the position in the data
(the generators' state at the epoch's start and the number of steps taken since). On a CPU, with the same number of
threads, it ends bit-identical to one that was not stopped. On CUDA, whose kernels sum in no fixed order, it is as close
to it as two uninterrupted runs of one configuration are to each other: the first step to float32 rounding, the rest to
what the training makes of that.

There is one checkpoint a run, removed at its end.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.seeding import derived_seed
from setsweep.trainables.checkpoint import Saver, load_checkpoint, remove_checkpoint, save_checkpoint
from setsweep.trainables.config.hits import Hits
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.device import find_device, product_precision, runtime, seeded
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.packed import order_of
from setsweep.trainables.evaluation.predictor import predictor
from setsweep.trainables.places import AnyPath
from setsweep.trainables.seed_group import Report, SeedGroup

CHECKPOINT_FORMAT = 5  # a checkpoint of another format is of no use

EpochReport = Callable[[int, Mapping[str, float]], None]


def train(
    config: RunConfig,
    *,
    dataset: Dataset | None = None,
    root: str | Path | None = None,
    checkpoint: AnyPath | None = None,
    checkpoint_seconds: float = 60.0,
    keep_model: KeepModel | None = None,
    keep_scores: AnyPath | None = None,
    on_epoch: EpochReport | None = None,
) -> RunResult:
    """Train one configuration with one seed and measure it.

    Args:
        config: complete and checked (`trainables.config.complete.complete_config`).
        dataset: its data, where the caller has it already; else it is loaded.
        root: where the data files lie (see `data.load_dataset`).
        checkpoint: a file to write the state of the run to, and to resume from if it is there; removed at the end.
        checkpoint_seconds: time between checkpoints, or more (see `trainables.checkpoint.Saver`); 0 writes one after
            every step.
        keep_model: where to save the trained model, if anywhere.
        keep_scores: the folder to write the scores of every kept epoch to, if any (see
            `trainables.evaluation.kept.score_store`).
        on_epoch: called after each evaluation with the epoch and its metrics.

    Returns:
        The result; its status is "diverged" where the training loss became infinite or NaN.

    Raises:
        ValueError: the parts of the configuration don't fit (an image model on vectors, a device that isn't there).
        data.files.DataError: data files that are missing or damaged.
    """
    (result,) = train_seeds(
        [config],
        datasets=[load_dataset(config.data, seed=config.seed, root=root) if dataset is None else dataset],
        checkpoint=checkpoint,
        checkpoint_seconds=checkpoint_seconds,
        keep_models=[keep_model],
        keep_scores=[keep_scores],
        on_epoch=on_epoch and (lambda seed, epoch, metrics: on_epoch(epoch, metrics)),
    )
    return result


def train_seeds(
    configs: Sequence[RunConfig],
    *,
    datasets: Sequence[Dataset],
    checkpoint: AnyPath | None = None,
    checkpoint_seconds: float = 60.0,
    keep_models: Sequence[KeepModel | None] | None = None,
    keep_scores: Sequence[AnyPath | None] = (),
    on_epoch: Report | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[RunResult]:
    """Train a seed group: several seeds of one configuration together; with one, this is `train`.

    Args:
        configs: complete and checked, equal but for the seed.
        datasets: of each.
        checkpoint: see `train`; of all of them together.
        checkpoint_seconds: see `train`.
        keep_models, keep_scores: see `train`; of each.
        on_epoch: called after each evaluation with the seed, the epoch and its metrics.
        stop: asked after every step whether to stop there.

    Returns:
        The result of each. The seconds of training are shared equally among them.

    Raises:
        ValueError, data.files.DataError: see `train`.
        Interrupted: it was to stop; the checkpoint holds all steps that were taken.
    """
    started = time.time()
    keep_models = keep_models or [None] * len(configs)
    device = find_device(configs[0].training.device)
    key = _group_key(configs, device)
    with seeded(derived_seed(configs[0].seed, "model"), device), product_precision(configs[0].training.precision):
        criteria = [keep.criterion if keep else None for keep in keep_models]
        group = SeedGroup(configs, datasets, criteria, device, keep_scores)
        if checkpoint is not None and (state := load_checkpoint(checkpoint, key=key)):
            group.restore(state)
        clock = time.perf_counter()
        group.finish(Saver(checkpoint, checkpoint_seconds, key, stop=stop), on_epoch)
        seconds = (group.seconds + time.perf_counter() - clock) / len(configs)
        used = runtime(group.training, device, seeds=len(configs), decoder=datasets[0].decoded_by)
    for history, dataset, keep in zip(group.histories, datasets, keep_models, strict=True):
        if keep is not None and history.reason is None:
            save_checkpoint(predictor(history, dataset), keep.folder / "model.pt")
    if checkpoint is not None:
        remove_checkpoint(checkpoint)
    return [
        _result(history, dataset, seconds=seconds, started=started, used=used)
        for history, dataset in zip(group.histories, datasets, strict=True)
    ]


def _group_key(configs: Sequence[RunConfig], device: torch.device) -> str:
    """What names the checkpoint of these seeds in their order; generators of one device know no states of another's."""
    names = [str(CHECKPOINT_FORMAT), device.type, *(config.key for config in configs)]
    return hashlib.sha256("/".join(names).encode()).hexdigest()[:16]


def _result(
    history: History, dataset: Dataset, *, seconds: float, started: float, used: Mapping[str, Any]
) -> RunResult:
    done = history.reason is None
    bits = history.best.hits
    return RunResult(
        key=history.config.key,
        status="done" if done else "diverged",
        reason=history.reason,
        metrics=history.final_metrics() if done else {},
        best_epoch=history.best.epoch if done else {},
        tested=dict(sorted(history.best.tested.items())) if done else {},
        epochs=tuple(history.epochs),
        curves={name: tuple(values) for name, values in history.curves.items()},
        thresholds=history.best.thresholds if done else {},
        seconds=seconds,
        started=started,
        finished=time.time(),
        host=socket.gethostname(),
        stopped=history.stopped,
        pruned=history.pruned,
        runtime=used,
        hits=Hits(len(dataset.test), order_of(dataset.test), bits) if done and bits else None,
    )
