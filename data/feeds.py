"""What a run is fed: the training batches of epoch after epoch, and a split in pieces for evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from data.batches import epoch_order, normalise
from data.dataset import Dataset, Split
from data.seeding import seeded_generator

EVALUATION_BATCH = 128, 1024  # examples at a time, at least and at most
EVALUATION_NUMBERS = 2**17  # numbers at a time between those: larger activations are memory fresh from the system


@dataclass(frozen=True)
class Batch:
    """What one step trains on, on the run's device.

    Args:
        inputs: (batch, ...) float32, normalised.
        labels: (batch,) int64 class indices.
        indices: (batch,) int64, which training examples these are.
    """

    inputs: Tensor
    labels: Tensor
    indices: Tensor


class TrainingFeed:
    """The training batches of one run. The split lies on the device; every epoch visits it in a new order.

    Args:
        dataset: of the run.
        batch_size: examples per step, or "full": one batch is the whole split, in its own order.
        seed: of the run.
        device: where batches are wanted.

    Raises:
        ValueError: a batch larger than the split.
    """

    def __init__(self, dataset: Dataset, *, batch_size: int | Literal["full"], seed: int, device: torch.device) -> None:
        split = dataset.train
        self.num_examples = len(split)
        self.batch_size = _batch_size(batch_size, self.num_examples)
        self._dataset, self._device = dataset, device
        self._inputs, self._labels = split.inputs.to(device), split.labels.to(device)
        self._order = seeded_generator(seed, "data_order")
        self._at_start = self._order.get_state()
        self._full: Batch | None = None
        if batch_size == "full":
            indices = torch.arange(self.num_examples, device=device)
            self._full = Batch(self._prepare(self._inputs), self._labels, indices)

    def epoch(self, *, skip: int = 0) -> Iterator[Batch]:
        """The batches of the next epoch but for the first `skip`, which were seen before a stop."""
        if self._full is not None:
            if skip == 0:
                yield self._full
            return
        self._at_start = self._order.get_state()
        order = epoch_order(self.num_examples, self._order).to(self._device)
        for start in range(skip * self.batch_size, self.num_examples, self.batch_size):
            indices = order[start : start + self.batch_size]
            yield Batch(self._prepare(self._inputs[indices]), self._labels[indices], indices)
        self._at_start = self._order.get_state()

    def _prepare(self, inputs: Tensor) -> Tensor:
        return normalise(inputs, self._dataset.mean, self._dataset.std)

    def state(self) -> dict[str, Any]:
        """For a checkpoint: with the number of steps taken in the epoch, this is the position in the data."""
        return {"order": self._at_start}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`; the next epoch is the one that was in progress."""
        self._order.set_state(state["order"])
        self._at_start = state["order"]


def evaluation_batches(dataset: Dataset, split: Split, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """A split in its own order, as (inputs, labels) on a device.

    Args:
        dataset: says how images are normalised.
        split: one of its splits.
        device: where inputs and labels are wanted.
    """
    low, high = EVALUATION_BATCH
    size = min(max(EVALUATION_NUMBERS // split.inputs[0].numel(), low), high)
    for start in range(0, len(split), size):
        rows = slice(start, start + size)
        inputs = normalise(split.inputs[rows].to(device), dataset.mean, dataset.std)
        yield inputs, split.labels[rows].to(device)


def _batch_size(asked: int | Literal["full"], size: int) -> int:
    if asked == "full":
        return size
    if asked > size:
        raise ValueError(f"training.batch_size must be <= the number of training examples = {size}, got {asked}.")
    return asked
