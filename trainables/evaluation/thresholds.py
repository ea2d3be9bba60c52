"""The threshold of an average-k classifier: Algorithm 1 of the two-head paper by selection, in one pass, in bounded
memory.

Garcin et al.: A two-head loss function for deep Average-K classification, 2023. Differs from the paper: the
probabilities are never sorted, and k = num_classes, for which Algorithm 1 is undefined, gives -inf.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def at_least(probabilities: Tensor, threshold: float) -> Tensor:
    """``probabilities >= threshold`` as if both were exact, although torch rounds the threshold to their precision."""
    rounded = torch.tensor(threshold, dtype=probabilities.dtype)
    if rounded.item() < threshold:
        rounded = rounded.nextafter(torch.tensor(math.inf, dtype=probabilities.dtype))
    return probabilities >= rounded.item()


class ThresholdSelection:
    """Finds the thresholds of several k from probabilities that come in chunks.

    Keeps the ``max(k) * num_examples + 1`` largest probabilities seen and as much again before it drops the smallest,
    on the device where they came.

    Args:
        ks: mean set sizes, each from 1 to num_classes.
        num_classes: number of columns of the probabilities.
        num_examples: number of rows that will come; None keeps every probability.
    """

    def __init__(self, ks: Sequence[int], num_classes: int, num_examples: int | None = None) -> None:
        self.num_classes = num_classes
        self.ks = sorted((k for k in ks if k < num_classes), reverse=True)
        self.whole = [k for k in ks if k >= num_classes]
        self.num_examples = num_examples
        self.rows = 0
        self.numbers = 0  # probabilities that are not NaN
        self.kept: list[Tensor] = []
        self.num_kept = 0
        self.floor = -math.inf  # every dropped probability is at most this
        self.dropped_at_floor = 0

    def add(self, probabilities: Tensor) -> None:
        """Take in a chunk of (rows, classes); NaN is in no set and never kept."""
        self.rows += len(probabilities)
        largest = probabilities[at_least(probabilities, self.floor)]
        if self.whole:
            self.numbers += int((probabilities == probabilities).sum())
        self.kept.append(largest)
        self.num_kept += len(largest)
        if self.num_examples is not None and self.ks and self.num_kept > 2 * (self.ks[0] * self.num_examples + 1):
            self._drop(self.ks[0] * self.num_examples + 1)

    def finish(self) -> tuple[dict[int, float], dict[int, int]]:
        """For each k its threshold, and the total size of the sets that it gives on these probabilities.

        Raises:
            ValueError: no row came, or more than `num_examples`, so that too much was dropped.
        """
        if self.rows == 0 or (self.num_examples is not None and self.rows > self.num_examples):
            raise ValueError(
                f"num_examples must be the number of rows, {self.rows}, and >= 1, got {self.num_examples}."
            )
        thresholds = dict.fromkeys(self.whole, -math.inf)
        sizes = dict.fromkeys(self.whole, self.numbers)
        kept = torch.cat(self.kept)
        largest = kept
        for k in self.ks:
            largest, thresholds[k] = _threshold(largest, k * self.rows)
            ties = self.dropped_at_floor if thresholds[k] <= self.floor else 0
            sizes[k] = int(at_least(kept, thresholds[k]).sum()) + ties
        return thresholds, sizes

    def _drop(self, capacity: int) -> None:
        kept = torch.cat(self.kept)
        largest = kept.topk(capacity, sorted=False).values
        floor = largest.min().item()
        ties = int(at_least(kept, floor).sum()) - capacity
        self.dropped_at_floor = ties + (self.dropped_at_floor if floor == self.floor else 0)
        self.kept, self.num_kept, self.floor = [largest], capacity, floor


class GivenThresholds:
    """Counts what given thresholds let through, with the interface of `ThresholdSelection`."""

    def __init__(self, thresholds: Mapping[int, float]) -> None:
        self.thresholds = dict(thresholds)
        self.sizes: dict[int, list[Tensor]] = {k: [] for k in thresholds}

    def add(self, probabilities: Tensor) -> None:
        """Take in a chunk of (rows, classes)."""
        for k, threshold in self.thresholds.items():
            self.sizes[k].append(at_least(probabilities, threshold).sum())

    def finish(self) -> tuple[dict[int, float], dict[int, int]]:
        """The thresholds, and for each k the total size of the sets."""
        return self.thresholds, {k: int(torch.stack(sizes).sum()) for k, sizes in self.sizes.items()}


def _threshold(probabilities: Tensor, rank: int) -> tuple[Tensor, float]:
    """The rank + 1 largest of flat `probabilities`, and the mean of the last two; -inf where there are fewer (NaN)."""
    if len(probabilities) <= rank:
        return probabilities, -math.inf
    largest = probabilities.topk(rank + 1, sorted=False).values
    below, above = largest.topk(2, largest=False).values.tolist()
    return largest, (above + below) / 2
