"""The training loop: a RunConfig in, a RunResult out; or a seed group, the seeds of one configuration, together.

The path is the same on CPU and CUDA, for mini-batches and full batches, for one seed and for a group.

A run that is stopped goes on from the step after its last checkpoint, in the middle of an epoch: the checkpoint holds
the models, the optimisers, the best epochs so far with their weights, every generator, and the position in the data
(the generators' state at the epoch's start and the number of steps taken since). On a CPU, with the same number of
threads, it ends bit-identical to one that was not stopped. On CUDA, whose kernels sum in no fixed order, it is as close
to it as two uninterrupted runs of one configuration are to each other: the first step to float32 rounding, the rest to
what the training makes of that.

The loop waits for the device at the end of an epoch and of an evaluation, and for a checkpoint when one is due, but not
in a step. There is one checkpoint a run, removed at its end; it holds, as the run does, one copy of the weights for
each epoch that some metric reports. These copies lie in the main memory, as runs may share a GPU: each is one transfer
after an evaluation, which waits for the device anyway.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.seeding import derived_seed
from setsweep.trainables.checkpoint import Saver, load_checkpoint, remove_checkpoint, save_checkpoint
from setsweep.trainables.config.continuation import check_continuation
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.device import find_device, product_precision, random_state, runtime, seeded, set_random_state
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.predictor import predictor
from setsweep.trainables.evaluation.split_measure import SplitMeasure
from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.initial import training_feed
from setsweep.trainables.learners.optimizers import learning_rate
from setsweep.trainables.settings.problems import ConfigError, Problem

CHECKPOINT_FORMAT = 5  # a checkpoint of another format is of no use

EpochReport = Callable[[int, Mapping[str, float]], None]


def train(
    config: RunConfig,
    *,
    dataset: Dataset | None = None,
    root: str | Path | None = None,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 60.0,
    keep_model: KeepModel | None = None,
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
        on_epoch=on_epoch and (lambda seed, epoch, metrics: on_epoch(epoch, metrics)),
    )
    return result


def train_seeds(
    configs: Sequence[RunConfig],
    *,
    datasets: Sequence[Dataset],
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 60.0,
    keep_models: Sequence[KeepModel | None] | None = None,
    on_epoch: Callable[[int, int, Mapping[str, float]], None] | None = None,
) -> list[RunResult]:
    """Train a seed group: several seeds of one configuration together; with one, this is `train`.

    Args:
        configs: complete and checked, equal but for the seed.
        datasets: of each.
        checkpoint: see `train`; of all of them together.
        checkpoint_seconds: see `train`.
        keep_models: see `train`; of each.
        on_epoch: called after each evaluation with the seed, the epoch and its metrics.

    Returns:
        The result of each. The seconds of training are shared equally among them.

    Raises:
        ValueError, data.files.DataError: see `train`.
    """
    started = time.time()
    keep_models = keep_models or [None] * len(configs)
    device = find_device(configs[0].training.device)
    key = _group_key(configs, device)
    with seeded(derived_seed(configs[0].seed, "model"), device), product_precision(configs[0].training.precision):
        group = _SeedGroup(configs, datasets, [keep.criterion if keep else None for keep in keep_models], device)
        if checkpoint is not None and (state := load_checkpoint(checkpoint, key=key)):
            group.restore(state)
        clock = time.perf_counter()
        group.finish(Saver(checkpoint, checkpoint_seconds, key), on_epoch)
        seconds = (group.seconds + time.perf_counter() - clock) / len(configs)
        used = runtime(group.training, device, seeds=len(configs))
    for history, dataset, keep in zip(group.histories, datasets, keep_models, strict=True):
        if keep is not None and history.reason is None:
            save_checkpoint(predictor(history, dataset), keep.folder / "model.pt")
    if checkpoint is not None:
        remove_checkpoint(checkpoint)
    return [_result(history, seconds=seconds, started=started, used=used) for history in group.histories]


def _group_key(configs: Sequence[RunConfig], device: torch.device) -> str:
    """What names the checkpoint of these seeds in their order; generators of one device know no states of another's."""
    names = [str(CHECKPOINT_FORMAT), device.type, *(config.key for config in configs)]
    return hashlib.sha256("/".join(names).encode()).hexdigest()[:16]


def _result(history: History, *, seconds: float, started: float, used: Mapping[str, Any]) -> RunResult:
    done = history.reason is None
    return RunResult(
        key=history.config.key,
        status="done" if done else "diverged",
        reason=history.reason,
        metrics=history.final_metrics() if done else {},
        best_epoch=history.best.epoch if done else {},
        epochs=tuple(history.epochs),
        curves={name: tuple(values) for name, values in history.curves.items()},
        thresholds=history.best.thresholds if done else {},
        seconds=seconds,
        started=started,
        finished=time.time(),
        host=socket.gethostname(),
        stopped=history.stopped,
        runtime=used,
    )


class _SeedGroup:
    """The seeds of one configuration that train together."""

    def __init__(
        self,
        configs: Sequence[RunConfig],
        datasets: Sequence[Dataset],
        criteria: Sequence[str | None],
        device: torch.device,
    ) -> None:
        self.training, self.test, self.device = configs[0].training, configs[0].test, device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        self.histories = [History(*pair) for pair in zip(configs, criteria, strict=True)]
        self.feeds = [training_feed(config, dataset, device) for config, dataset in zip(configs, datasets, strict=True)]
        self.learner = build_learner(configs, datasets, device)
        self.measure = SplitMeasure(configs[0], datasets, device)
        self.epoch = 0  # finished epochs
        self.step = 0  # finished steps of the epoch in progress
        self.loss_sum = torch.zeros(len(configs), device=device)
        self.seconds = 0.0  # spent before the last resume
        self.clock = time.perf_counter()

    def finish(self, saver: Saver, on_epoch: Callable[[int, int, Mapping[str, float]], None] | None) -> None:
        """Train to the end, or until every seed has diverged or run out of patience; then test."""
        while self.more:
            self.advance(saver, on_epoch)
        if self.test and any(history.reason is None for history in self.histories):
            self._test()

    @property
    def more(self) -> bool:
        """Whether there is an epoch left, and a seed to train in it."""
        return self.epoch < self.training.epochs and self._going()

    def advance(self, saver: Saver, on_epoch: Callable[[int, int, Mapping[str, float]], None] | None) -> None:
        """Train for an epoch, and evaluate where that is due."""
        training = self.training
        losses = self._train_epoch(saver)
        for history, loss in zip(self.histories, losses, strict=True):
            history.check_loss(self.epoch, loss)
        if self.epoch == training.epochs:
            for history, finite in zip(self.histories, self.learner.finite(), strict=True):
                history.check_weights(self.epoch, finite)
        if self._going() and (self.epoch % training.evaluate_every == 0 or self.epoch == training.epochs):
            self._validate(losses, on_epoch)

    def _going(self) -> bool:
        return any(history.going for history in self.histories)

    def _train_epoch(self, saver: Saver) -> list[float]:
        """The mean training loss of each seed over an epoch."""
        num_examples, batch_size, steps = self.feeds[0].num_examples, self.feeds[0].batch_size, self.feeds[0].steps
        for batches in zip(*(feed.epoch(skip=self.step) for feed in self.feeds), strict=True):
            lr = learning_rate(self.training, epoch=self.epoch, batch_size=batch_size, step=self.step, steps=steps)
            self.loss_sum += self.learner.step(batches, lr) * len(batches[0].labels)
            self.step += 1
            saver.maybe(self.state)
        losses = [loss / num_examples for loss in self.loss_sum.tolist()]
        self.epoch += 1
        self.step = 0
        self.loss_sum.zero_()
        return losses

    def _validate(
        self, losses: Sequence[float], on_epoch: Callable[[int, int, Mapping[str, float]], None] | None
    ) -> None:
        measured = self.measure(self.learner, "val")
        for seed, (history, loss, val) in enumerate(zip(self.histories, losses, measured, strict=True)):
            if history.going:
                metrics = history.add(self.epoch, loss, val, lambda seed=seed: self.learner.weights(seed))  # type: ignore[misc]
                if on_epoch is not None:
                    on_epoch(history.config.seed, self.epoch, metrics)

    def _test(self) -> None:
        """Test the model of every epoch that some metric reports, once each, with its own thresholds.

        The n-th epochs kept by the seeds are tested together; a seed that keeps fewer shows its last again, and one
        that diverged before it had any shows what it has, to no effect.
        """
        weights = self.learner.weights
        waiting = [list(history.kept.items()) for history in self.histories]
        for turn in range(max(map(len, waiting))):
            shown = [
                kept[min(turn, len(kept) - 1)] if kept else (0, (dict.fromkeys(history.config.k, 0.0), weights(seed)))
                for seed, (history, kept) in enumerate(zip(self.histories, waiting, strict=True))
            ]
            self.learner.load_weights([kept for _, (_, kept) in shown])
            measured = self.measure(self.learner, "test", [thresholds for _, (thresholds, _) in shown])
            for history, (epoch, _), test in zip(self.histories, shown, measured, strict=True):
                history.best.add_test(epoch, test.metrics)

    def state(self) -> dict[str, Any]:
        """All that the rest of the training depends on."""
        return {
            "learner": self.learner.state(),
            "feeds": [feed.state() for feed in self.feeds],
            "histories": [history.state() for history in self.histories],
            "epoch": self.epoch,
            "step": self.step,
            "loss_sum": self.loss_sum,
            "global": random_state(self.device),
            "seconds": self.seconds + time.perf_counter() - self.clock,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.learner.restore(state["learner"])
        for feed, saved in zip(self.feeds, state["feeds"], strict=True):
            feed.restore(saved)
        for history, saved in zip(self.histories, state["histories"], strict=True):
            history.restore(saved)
        self.epoch, self.step, self.seconds = state["epoch"], state["step"], state["seconds"]
        self.loss_sum = state["loss_sum"].to(self.loss_sum.device)
        set_random_state(state["global"], self.device)


class Run:
    """A run that is trained from one evaluation to the next; in between it can be saved, and go on from what was saved.

    Whatever happens in between, it gives the numbers of `train`, and leaves PyTorch's global generators as they were.

    Args:
        config, dataset: see `train`.

    Raises:
        ValueError: see `train`.
    """

    def __init__(self, config: RunConfig, *, dataset: Dataset) -> None:
        self.config, self._device = config, find_device(config.training.device)
        with seeded(derived_seed(config.seed, "model"), self._device), product_precision(config.training.precision):
            self._group = _SeedGroup([config], [dataset], [None], self._device)
            self._random = random_state(self._device)

    @property
    def history(self) -> History:
        """What was measured so far."""
        return self._group.histories[0]

    @property
    def epoch(self) -> int:
        """How many epochs are finished."""
        return self._group.epoch

    @property
    def over(self) -> bool:
        """Whether it is trained to the end, has diverged, or has run out of patience."""
        return not self._group.more

    def to_next_evaluation(self) -> None:
        """Train until the history has one more evaluation, or the run is over; if it is, test it where it asks for it.

        The last weights stay in place when others are tested: with more epochs, the run could go on.
        """
        nothing_to_save = Saver(None, 0.0, "")
        evaluated = len(self.history.epochs)
        with self._turn():
            while self._group.more and len(self.history.epochs) == evaluated:
                self._group.advance(nothing_to_save, None)
            if self.over and self._group.test:
                last = self._group.learner.weights(0)
                self._group.finish(nothing_to_save, None)
                self._group.learner.load_weights([last])

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Within it PyTorch's global generators and the precision of products are those of the run."""
        with seeded(0, self._device), product_precision(self.config.training.precision):
            set_random_state(self._random, self._device)
            yield
            self._random = random_state(self._device)

    def state(self) -> dict[str, Any]:
        """All that the rest of the run depends on, for a checkpoint: the tensors themselves, which training changes."""
        with self._turn():
            return {"device": self._device.type, "config": self.config.to_dict(), **self._group.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, which may be that of another configuration as far as `check_continuation` allows.

        Raises:
            ConfigError: it does not; or the state is of another kind of device, whose generators differ.
        """
        check_continuation(state["config"], self.config)
        if state["device"] != self._device.type:
            rule = f"must be {state['device']}, as in the checkpoint, got {self._device.type!r}."
            raise ConfigError([Problem("training.device", rule)])
        with self._turn():
            self._group.restore(state)
