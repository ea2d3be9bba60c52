"""What a run is fed: the training batches of epoch after epoch, and a split in pieces for evaluation.

Training tensors are moved to the run's device once, if they fit, where they are gathered, augmented and normalised;
those of an evaluation are there for as long as it takes. On a CPU all stay where they are, shared with other runs.
Image files are decoded by several threads, ahead of the training, and only their windows are moved, from page-locked
memory where the device is a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from setsweep.data.augment import Draws, centre_crop, crop_and_flip, cut_out, draw_augmentation, mix
from setsweep.data.augmentation import Augmentation
from setsweep.data.batches import PixelScale, epoch_order, normalise
from setsweep.data.dataset import Dataset, Split
from setsweep.data.decoding import Wanted, decode_batches
from setsweep.data.image_files import ImageFiles
from setsweep.data.resident import on_device
from setsweep.data.seeding import seeded_generator

EVALUATION_BATCH = 128, 1024  # examples at a time, at least and at most
EVALUATION_NUMBERS = 2**17  # numbers at a time between those: larger activations are memory fresh from the system


@dataclass(frozen=True)
class Batch:
    """What one step trains on, on the run's device.

    Args:
        inputs: (batch, ...) float32, normalised.
        labels: (batch,) int64 class indices; with Mixup (batch, classes) float32.
        indices: (batch,) int64, which training examples these are.
    """

    inputs: Tensor
    labels: Tensor
    indices: Tensor


class TrainingFeed:
    """The training batches of one run. Every epoch visits the split in a new order, with new draws for augmentation.

    Args:
        dataset: of the run.
        batch_size: examples per step, or "full": one batch is the whole split, in its own order.
        seed: of the run.
        device: where batches are wanted.
        augmentation: of images.
        decode_threads: that read image files; None: as many as torch uses. They change the speed alone.

    Raises:
        ValueError: a batch larger than the split, or augmentation of inputs that are no images.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        batch_size: int | Literal["full"],
        seed: int,
        device: torch.device,
        augmentation: Augmentation | None = None,
        decode_threads: int | None = None,
    ) -> None:
        split = dataset.train
        self.num_examples = len(split)
        self.batch_size = _batch_size(batch_size, self.num_examples)
        self._dataset, self._device, self._threads = dataset, device, decode_threads
        self._augmentation = augmentation or Augmentation()
        self._random = self._augmentation != Augmentation() or dataset.crop is not None
        self._images = _check_images(dataset, self._augmentation)
        self._inputs = on_device(split.inputs, device) if isinstance(split.inputs, Tensor) else split.inputs
        self._labels = split.labels.to(device)
        self._order = seeded_generator(seed, "data_order")
        self._chance = seeded_generator(seed, "augmentation")
        self._in_order = batch_size == "full"
        self._fixed: Batch | None = None  # the only batch, where nothing is random
        self._at_start = self._generators()

    def epoch(self, *, skip: int = 0) -> Iterator[Batch]:
        """The batches of the next epoch but for the first `skip`, which were seen before a stop."""
        self._at_start = self._generators()
        order, draws = self._draw_order(), self._draw_augmentation()
        if self._in_order and draws is None and skip == 0:
            self._fixed = self._fixed or next(self._batches(order, draws, skip))
            yield self._fixed
        else:
            yield from self._batches(order, draws, skip)
        self._at_start = self._generators()

    @property
    def steps(self) -> int:
        """How many batches an epoch has."""
        return -(-self.num_examples // self.batch_size)

    def state(self) -> dict[str, Any]:
        """For a checkpoint: with the number of steps taken in the epoch, this is the position in the data."""
        return self._at_start

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`; the next epoch is the one that was in progress."""
        self._order.set_state(state["order"])
        self._chance.set_state(state["augmentation"])
        self._at_start = self._generators()

    def _generators(self) -> dict[str, Any]:
        return {"order": self._order.get_state(), "augmentation": self._chance.get_state()}

    def _draw_order(self) -> Tensor:
        return torch.arange(self.num_examples) if self._in_order else epoch_order(self.num_examples, self._order)

    def _draw_augmentation(self) -> Draws | None:
        if not self._random:
            return None
        return draw_augmentation(
            self._augmentation, self.num_examples, batch_size=self.batch_size, generator=self._chance
        )

    def _batches(self, order: Tensor, draws: Draws | None, skip: int) -> Iterator[Batch]:
        starts = range(skip * self.batch_size, self.num_examples, self.batch_size)
        steps = [slice(start, start + self.batch_size) for start in starts]
        if isinstance(self._inputs, ImageFiles):
            images = self._decoded(self._inputs, order, draws, steps)
        else:
            images = self._gathered(self._inputs, order.to(self._inputs.device), steps)
        order, draws = order.to(self._device), draws and draws.to(self._device)
        for rows, inputs in zip(steps, images, strict=True):
            yield self._finished(inputs, order[rows], draws and draws.rows(rows))

    def _gathered(self, inputs: Tensor, order: Tensor, steps: list[slice]) -> Iterator[Tensor]:
        """The stored examples of each batch; on a CPU, `index_select` is 10 times faster than indexing."""
        gathered = (inputs[rows] if self._in_order else inputs.index_select(0, order[rows]) for rows in steps)
        return (each.to(self._device) for each in gathered)

    def _decoded(self, files: ImageFiles, order: Tensor, draws: Draws | None, steps: list[slice]) -> Iterator[Tensor]:
        """The windows of each batch, already flipped, and on a CPU normalised."""
        assert draws is not None  # image files are always cropped
        flip = self._augmentation.flip
        wanted = (
            Wanted(
                order[rows].tolist(),
                list(map(tuple, draws.places[rows].tolist())),
                draws.flips[rows].tolist() if flip else None,
            )
            for rows in steps
        )
        return _moved(files, wanted, self._dataset, self._device, self._threads, self._augmentation.pad_crop)

    def _finished(self, inputs: Tensor, indices: Tensor, draws: Draws | None) -> Batch:
        """A batch ready for the model."""
        dataset, augmentation = self._dataset, self._augmentation
        labels = self._labels.index_select(0, indices)
        if draws is not None and self._images and not isinstance(self._inputs, ImageFiles):  # decoded ones are windows
            size, padding = dataset.input_shape[1:], augmentation.pad_crop
            inputs = crop_and_flip(inputs, draws, size, padding=padding, flip=augmentation.flip)
        values = normalise(inputs, dataset.mean, dataset.std)
        if draws is not None and augmentation.cutout:
            cut_out(values, draws.centres, augmentation.cutout)
        if draws is not None and augmentation.mixup:
            values, labels = mix(values, labels, draws, dataset.num_classes)
        return Batch(values, labels, indices)


def evaluation_batches(
    dataset: Dataset, split: Split, device: torch.device, *, decode_threads: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """A split in its own order, as (inputs, labels) on a device; of images the window in the middle.

    Args:
        dataset: says how images are normalised and cropped.
        split: one of its splits.
        device: where inputs and labels are wanted.
        decode_threads: see `TrainingFeed`.
    """
    low, high = EVALUATION_BATCH
    shape = dataset.input_shape
    size = min(max(EVALUATION_NUMBERS // torch.Size(shape).numel(), low), high)
    pieces = [slice(start, start + size) for start in range(0, len(split), size)]
    if isinstance(split.inputs, ImageFiles):
        every = range(len(split))
        wanted = (Wanted(list(every[rows])) for rows in pieces)
        images = _moved(split.inputs, wanted, dataset, device, decode_threads, 0)
    else:
        stored = on_device(split.inputs, device)
        windows = stored if dataset.crop is None else centre_crop(stored, dataset.crop)
        images = (windows[rows].to(device) for rows in pieces)
    for rows, inputs in zip(pieces, images, strict=True):
        yield normalise(inputs, dataset.mean, dataset.std), split.labels[rows].to(device)


def _moved(
    files: ImageFiles,
    wanted: Iterator[Wanted],
    dataset: Dataset,
    device: torch.device,
    threads: int | None,
    padding: int,
) -> Iterator[Tensor]:
    """Decoded windows on a device; copies to a GPU go on beside its work. On a CPU they are normalised already."""
    assert dataset.crop is not None
    pinned = device.type == "cuda"
    scale = PixelScale(dataset.mean, dataset.std) if device.type == "cpu" else None
    batches = decode_batches(
        files, wanted, size=dataset.crop, padding=padding, threads=threads, pinned=pinned, scale=scale
    )
    return (batch.to(device, non_blocking=pinned) for batch in batches)


def _batch_size(asked: int | Literal["full"], size: int) -> int:
    if asked == "full":
        return size
    if asked > size:
        raise ValueError(f"training.batch_size must be <= the number of training examples = {size}, got {asked}.")
    return asked


def _check_images(dataset: Dataset, augmentation: Augmentation) -> bool:
    """Whether inputs are images. Raises ValueError where they aren't and augmentation is more than Mixup."""
    inputs = dataset.train.inputs
    images = isinstance(inputs, ImageFiles) or inputs.dtype == torch.uint8
    if not images and (augmentation.pad_crop or augmentation.flip or augmentation.cutout):
        raise ValueError(f"augmentation must be off but for mixup where inputs are no images, got {augmentation}.")
    return images
