"""Stratified splits: parts of a data set in which every class keeps its share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from setsweep.data.seeding import seeded_generator


def stratified_order(labels: Tensor, generator: torch.Generator) -> Tensor:
    """A random order of the examples of which every beginning is stratified.

    Within its class the example that comes j-th of n is due at (j + 1/2) / n; the examples are ordered by when they are
    due, and at random where they are due together. With classes of equal size, their counts in the first m
    examples differ by at most one, for every m.

    Args:
        labels: (n,) int64 class indices.
        generator: decides the order.

    Returns:
        (n,) int64: a permutation of 0..n-1.
    """
    shuffled = torch.randperm(len(labels), generator=generator)
    classes = labels[shuffled]
    by_class = torch.argsort(classes, stable=True)
    counts = torch.bincount(classes)
    starts = counts.cumsum(0) - counts
    rank = torch.empty_like(by_class)
    rank[by_class] = torch.arange(len(labels)) - starts.repeat_interleave(counts)
    due = (rank + 0.5).double() / counts[classes]
    return shuffled[torch.argsort(due, stable=True)]


def stratified_split(labels: Tensor, sizes: Sequence[int], generator: torch.Generator) -> tuple[Tensor, ...]:
    """Disjoint stratified parts of a data set: consecutive pieces of its `stratified_order`.

    The first part of size m is contained in the first part of any larger size that the same generator state gives.

    Args:
        labels: (n,) int64 class indices.
        sizes: examples in each part; together at most n.
        generator: decides which examples.

    Returns:
        For each size, that many indices, ascending.

    Raises:
        ValueError: the sizes exceed the number of examples.
    """
    if sum(sizes) > len(labels):
        raise ValueError(f"sizes must add up to at most the {len(labels)} examples, got {tuple(sizes)}.")
    order = stratified_order(labels, generator)[: sum(sizes)]
    return tuple(part.sort().values for part in torch.split(order, list(sizes)))


def train_and_val(
    labels: Tensor, *, val_size: int, subset: int | None, split_seed: int, name: str
) -> tuple[Tensor, Tensor]:
    """Which of the published training examples of a data set are for training, and which for validation.

    Args:
        labels: (n,) int64 class indices of the published training examples.
        val_size: examples held out, whatever the subset.
        subset: examples to train on; None: all that are not held out. A smaller subset is part of a larger one.
        split_seed: decides which.
        name: of the data set, so that data sets are split independently.

    Returns:
        Indices of the training and of the validation examples, each ascending.
    """
    sizes = (len(labels) - val_size, val_size)
    train, val = stratified_split(labels, sizes, seeded_generator(split_seed, f"{name}/split"))
    if subset is None:
        return train, val
    (chosen,) = stratified_split(labels[train], (subset,), seeded_generator(split_seed, f"{name}/subset"))
    return train[chosen], val


def hold_out(labels: Tensor, fraction: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What is kept of a data set, and what is held out of it: from every class the same share.

    Of a class with n examples `fraction * n`, rounded, are held out, but at least one, and never the last: a class with
    one example keeps it. So the share of a small class is larger.

    Args:
        labels: (n,) int64 class indices.
        fraction: to hold out, between 0 and 1.
        generator: decides which examples.

    Returns:
        Indices of the examples kept, and of those held out, each ascending.
    """
    counts = torch.bincount(labels)
    wanted = (counts * fraction).round().long().clamp(min=1).minimum((counts - 1).clamp(min=0))
    return _held_out(labels, counts, wanted, generator)


def hold_out_each(labels: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What is kept of a data set, and what is held out of it: the same number from every class, if it has so many.

    Args:
        labels: (n,) int64 class indices.
        count: examples of each class to hold out.
        generator: decides which examples.

    Returns:
        Indices of the examples kept, and of those held out, each ascending.
    """
    counts = torch.bincount(labels)
    return _held_out(labels, counts, counts.clamp(max=count), generator)


def _held_out(labels: Tensor, counts: Tensor, wanted: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Of each class with so many examples, which are kept and which `wanted` ones are not."""
    shuffled = torch.randperm(len(labels), generator=generator)
    by_class = shuffled[torch.argsort(labels[shuffled], stable=True)]
    rank = torch.arange(len(labels)) - (counts.cumsum(0) - counts).repeat_interleave(counts)
    held = rank < wanted.repeat_interleave(counts)
    return by_class[~held].sort().values, by_class[held].sort().values
