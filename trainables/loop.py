"""The training loop: a RunConfig in, a RunResult out. The same path on CPU and CUDA, for mini-batches and full batches.

A run that is stopped and started again from its checkpoint ends, on a CPU, bit-identical to one that was not stopped:
the checkpoint holds the model, the optimiser, the schedule, the best epochs so far, every generator, and the position
in the data (the generator's state at the epoch's start and the number of steps taken since).
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from data import load_dataset
from data.batches import epoch_order, normalise
from data.dataset import Dataset, Split
from data.seeding import derived_seed, seeded_generator
from losses import LOSSES, build_loss
from trainables.best import BestEpochs
from trainables.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint
from trainables.metrics import Evaluation, evaluate
from trainables.models import build_model
from trainables.optimizers import Updates, build_loss_optimizer, build_optimizer, learning_rate
from trainables.run_config import KeepModel, RunConfig, RunResult

EVALUATION_BATCH = 128, 1024  # examples at a time, at least and at most
EVALUATION_NUMBERS = 2**17  # numbers at a time between those: larger activations are memory fresh from the system

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
        config: complete and checked (`trainables.run_check.complete_config`).
        dataset: its data, where the caller has it already; else it is loaded.
        root: where the data files lie (see `data.load_dataset`).
        checkpoint: a file to write the state of the run to, and to resume from if it is there; removed at the end.
        checkpoint_seconds: time between checkpoints; 0 writes one after every step.
        keep_model: where to save the trained model, if anywhere.
        on_epoch: called after each evaluation with the epoch and its metrics.

    Returns:
        The result; its status is "diverged" where the training loss became infinite or NaN.

    Raises:
        ValueError: the parts of the configuration don't fit (an image model on vectors, a device that isn't there).
        data.dataset.DataError: data files that are missing or damaged.
    """
    started = time.time()
    if dataset is None:
        dataset = load_dataset(config.data, seed=config.seed, root=root)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derived_seed(config.seed, "model"))
        run = _Run(config, dataset, criterion=keep_model.criterion if keep_model else None)
        if checkpoint is not None and (state := load_checkpoint(checkpoint, key=config.key)):
            run.restore(state)
        clock = time.perf_counter()
        reason = run.finish(_Saver(checkpoint, checkpoint_seconds), on_epoch)
        seconds = run.seconds + time.perf_counter() - clock
    if keep_model is not None and reason is None:
        save_checkpoint(run.saved_model(), keep_model.folder / "model.pt")
    if checkpoint is not None:
        remove_checkpoint(checkpoint)
    return RunResult(
        key=config.key,
        status="done" if reason is None else "diverged",
        reason=reason,
        metrics={} if reason else run.best.metrics() | {"train/loss": run.curves["train/loss"][-1]},
        best_epoch={} if reason else run.best.epoch,
        epochs=tuple(run.epochs),
        curves={name: tuple(values) for name, values in run.curves.items()},
        thresholds={} if reason else run.best.thresholds,
        seconds=seconds,
        started=started,
        finished=time.time(),
        host=socket.gethostname(),
    )


@dataclass
class _Saver:
    """Writes the checkpoint when it is due."""

    path: Path | None
    every: float
    last: float = field(default_factory=time.monotonic)

    def maybe(self, state: Callable[[], dict[str, Any]]) -> None:
        if self.path is not None and time.monotonic() - self.last >= self.every:
            save_checkpoint(state(), self.path)
            self.last = time.monotonic()


class _Run:
    """One training in progress."""

    def __init__(self, config: RunConfig, dataset: Dataset, *, criterion: str | None) -> None:
        accuracies = [f"{kind}{k}_accuracy" for kind in ("top", "avg", "macro_top", "macro_avg") for k in config.k]
        if criterion is not None and criterion not in accuracies:
            raise ValueError(f"keep_model.criterion must be one of {', '.join(accuracies)}, got {criterion!r}.")
        self.config, self.dataset, self.criterion = config, dataset, criterion
        self.device = _device(config.training.device)
        self.declaration = LOSSES[config.loss["name"]]
        training = config.training
        self.train_split = _to(dataset.train, self.device)
        size = len(self.train_split)
        self.batch_size = _batch_size(training.batch_size, size)
        self.model = build_model(
            config.model,
            head=self.declaration.head,
            input_shape=tuple(dataset.train.inputs.shape[1:]),
            num_classes=dataset.num_classes,
            seed=derived_seed(config.seed, "initialisation"),
        ).to(self.device)
        self.noise = torch.Generator(self.device).manual_seed(derived_seed(config.seed, "loss_noise"))
        self.order = seeded_generator(config.seed, "data_order")
        self.class_counts = torch.bincount(dataset.train.labels, minlength=dataset.num_classes)
        options = {name: value for name, value in config.loss.items() if name != "name"}
        self.loss = build_loss(
            config.loss["name"],
            num_classes=dataset.num_classes,
            class_counts=self.class_counts,
            num_examples=size,
            generator=self.noise,
            **options,
        ).to(self.device)
        self.optimizer = build_optimizer(self.model.parameters(), training.optimizer)
        self.loss_optimizer: Updates | None = None
        if list(self.loss.parameters()):
            self.loss_optimizer = build_loss_optimizer(self.loss.parameters(), training.optimizer)
        self.best = BestEpochs(training.keep)
        self.kept: dict[int, tuple[dict[int, float], dict[str, Tensor]]] = {}  # thresholds and weights by epoch
        self.epochs: list[int] = []
        self.curves: dict[str, list[float]] = {}
        self.epoch = 0  # finished epochs
        self.step = 0  # finished steps of the epoch in progress
        self.loss_sum = torch.zeros((), device=self.device)
        self.order_at_start = self.order.get_state()
        self.seconds = 0.0  # spent before the last resume
        self.clock = time.perf_counter()
        self.full_batch = self._prepare(self.train_split.inputs) if training.batch_size == "full" else None

    def finish(self, saver: _Saver, on_epoch: EpochReport | None) -> str | None:
        """Train to the end; the reason where the loss is not finite any more, else None."""
        training = self.config.training
        while self.epoch < training.epochs:
            loss = self._train_epoch(saver)
            if not math.isfinite(loss):
                return f"training loss must be finite, got {loss} in epoch {self.epoch}."
            if self.epoch == training.epochs and not self._finite():
                return f"weights must be finite, got inf or nan in epoch {self.epoch}."
            if self.epoch % training.evaluate_every == 0 or self.epoch == training.epochs:
                metrics = self._measure(loss)
                if on_epoch is not None:
                    on_epoch(self.epoch, metrics)
        if self.config.test:
            self._test()
        return None

    def _train_epoch(self, saver: _Saver) -> float:
        if not self.model.training:
            self.model.train()
        lr = learning_rate(self.config.training, epoch=self.epoch, batch_size=self.batch_size)
        for labels, inputs, indices in self._batches():
            scores = self.model(inputs)
            extra = {"indices": indices} if self.declaration.needs_indices else {}
            value = self.loss(scores, labels, **extra).mean()
            value.backward()
            self.optimizer.step(lr)
            if self.loss_optimizer is not None:
                self.loss_optimizer.step(lr * self.config.loss["label_lr_factor"])
            self.loss_sum += value.detach() * len(labels)
            self.step += 1
            saver.maybe(self.state)
        loss = float(self.loss_sum) / len(self.train_split)
        self.epoch += 1
        self.step = 0
        self.loss_sum.zero_()
        self.order_at_start = self.order.get_state()
        return loss

    def _finite(self) -> bool:
        """Whether the last step, which no loss tells of, left the model finite."""
        return all(bool(weights.isfinite().all()) for weights in self.model.parameters())

    def _batches(self) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """(labels, prepared inputs, indices) of the steps that are left of this epoch."""
        split = self.train_split
        if self.full_batch is not None:
            indices = torch.arange(len(split), device=self.device) if self.declaration.needs_indices else None
            if self.step == 0:
                yield split.labels, self.full_batch, indices
            return
        order = epoch_order(len(split), self.order).to(self.device)
        for start in range(self.step * self.batch_size, len(split), self.batch_size):
            indices = order[start : start + self.batch_size]
            yield split.labels[indices], self._prepare(split.inputs[indices]), indices

    def _prepare(self, inputs: Tensor) -> Tensor:
        return normalise(inputs, self.dataset.mean, self.dataset.std)

    def _measure(self, loss: float) -> dict[str, float]:
        """Evaluate on validation after an epoch, and keep the model where it is the best of some metric."""
        val = self._evaluate(self.dataset.val, thresholds=None)
        improved = self.best.improved(val.metrics)
        self.best.update(self.epoch, improved, val.metrics, val.thresholds)
        if improved and self._wants_model():
            weights = {name: value.clone() for name, value in self.model.state_dict().items()}
            self.kept[self.epoch] = (val.thresholds, weights)
            wanted = set(self.best.epoch.values())
            self.kept = {epoch: model for epoch, model in self.kept.items() if epoch in wanted}
        metrics = {"train/loss": loss, **{f"val/{name}": value for name, value in val.metrics.items()}}
        self.epochs.append(self.epoch)
        for name, value in metrics.items():
            self.curves.setdefault(name, []).append(value)
        return metrics

    def _wants_model(self) -> bool:
        """A search reports no test numbers, and with `keep: last` only the last epoch's model is ever reported."""
        reported = self.config.training.keep == "best" or self.epoch == self.config.training.epochs
        return reported and (self.config.test or self.criterion is not None)

    def _test(self) -> None:
        """Test the model of every epoch that some metric reports, once each, with its own thresholds."""
        for epoch, (thresholds, weights) in self.kept.items():
            self.model.load_state_dict(weights)
            self.best.add_test(epoch, self._evaluate(self.dataset.test, thresholds).metrics)

    @torch.inference_mode()
    def _evaluate(self, split: Split, thresholds: Mapping[int, float] | None) -> Evaluation:
        self.model.eval()
        return evaluate(
            self._scores(split),
            num_classes=self.dataset.num_classes,
            ks=self.config.k,
            probabilities=self._probabilities(),
            thresholds=thresholds,
            train_class_counts=self.class_counts,
            num_examples=len(split),
        )

    def _scores(self, split: Split) -> Iterator[tuple[Tensor, Tensor]]:
        low, high = EVALUATION_BATCH
        size = min(max(EVALUATION_NUMBERS // split.inputs[0].numel(), low), high)
        for start in range(0, len(split), size):
            rows = slice(start, start + size)
            scores = self.model(self._prepare(split.inputs[rows].to(self.device)))
            if isinstance(scores, tuple):
                scores = scores[0 if self.config.training.head == "ml" else 1]
            yield scores, split.labels[rows].to(self.device)

    def _probabilities(self) -> Any:
        training = self.config.training
        if training.threshold_scores is not None:
            return training.threshold_scores
        if self.declaration.head == "two_head" and training.head == "sccp":
            return "softmax"  # that head learns by cross-entropy
        return self.declaration.probabilities

    def state(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        return {
            "key": self.config.key,
            "model": self.model.state_dict(),
            "loss": self.loss.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "loss_optimizer": self.loss_optimizer and self.loss_optimizer.state_dict(),
            "best": self.best.state(),
            "kept": self.kept,
            "epochs": self.epochs,
            "curves": self.curves,
            "epoch": self.epoch,
            "step": self.step,
            "loss_sum": self.loss_sum,
            "order": self.order_at_start,
            "noise": self.noise.get_state(),
            "global": torch.get_rng_state(),
            "seconds": self.seconds + time.perf_counter() - self.clock,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        for name in ("model", "loss", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        if self.loss_optimizer is not None:
            self.loss_optimizer.load_state_dict(state["loss_optimizer"])
        self.best.restore(state["best"])
        for name in ("kept", "epochs", "curves", "epoch", "step", "seconds"):
            setattr(self, name, state[name])
        self.loss_sum = state["loss_sum"].to(self.device)
        self.order_at_start = state["order"]
        self.order.set_state(state["order"])
        self.noise.set_state(state["noise"])
        torch.set_rng_state(state["global"])

    def saved_model(self) -> dict[str, Any]:
        """What a predictor needs: the weights at the criterion's best epoch, and the thresholds that go with them."""
        assert self.criterion is not None
        thresholds, weights = self.kept[self.best.epoch[self.criterion]]
        return {
            "config": self.config.to_dict(),
            "state": weights,
            "thresholds": {str(k): threshold for k, threshold in thresholds.items()},
            "probabilities": self._probabilities(),
            "num_classes": self.dataset.num_classes,
            "input_shape": list(self.dataset.train.inputs.shape[1:]),
            "mean": self.dataset.mean,
            "std": self.dataset.std,
            "class_names": list(self.dataset.class_names),
        }


def _device(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("training.device must be a device that is there, got 'cuda' on a machine without one.")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def _batch_size(asked: int | Literal["full"], size: int) -> int:
    if asked == "full":
        return size
    if asked > size:
        raise ValueError(f"training.batch_size must be <= the number of training examples = {size}, got {asked}.")
    return asked


def _to(split: Split, device: torch.device) -> Split:
    return Split(split.inputs.to(device), split.labels.to(device))
