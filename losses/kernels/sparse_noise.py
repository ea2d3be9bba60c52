"""Draws of the k-th largest noised score for which most of the noise is never drawn, on CPU.

The highest scores, the head, get their noise. Of the other classes only those matter whose noise lifts them over the
k-th noised score so found. Each has its own small chance p of that, and such trials are points of a Poisson process: a
class succeeds if at least one point falls on it, where -log(1 - p) points fall on average. So one Poisson number for
each example says how many there are, mostly none, and only their classes are looked at. The law is that of independent
noise on every class.

NumPy sorts because it sorts short rows with vector instructions: in a sixth of the time that torch takes to select from
them, and in the same time for every k.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.special import log_ndtr, ndtri

HEADS = (24, 48, 96, 192, 384)  # how many classes get noise where not all do; few sizes, so that near k share one
FEW_NOISED = 1 << 16  # so many noised scores are drawn in less time than it takes to choose among them
SELDOM = 0.06  # about how many points may fall on the other classes in a draw
FAR = 9.0  # no normal draw goes as far


class Head(NamedTuple):
    """The classes that get noise.

    Args:
        scores: (batch, width), -inf where a row has fewer.
        classes: (batch, width) of each score.
        lowest: (batch,) a score that no other exceeds; None: there are no others.
    """

    scores: Tensor
    classes: Tensor
    lowest: np.ndarray | None


def draw_sparse_noise(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor] | None:
    """Class and value of the k-th largest noised score of each draw, each (batch, num_samples).

    None where more than the largest of HEADS would need noise, and within the transforms of torch.func.

    Args:
        scores: (batch, classes), on CPU.
        k: rank, 1 to classes.
        epsilon: scale of the noise, in units of the scores; not 0.
        num_samples: draws per example.
        generator: None is torch's global one.
    """
    try:
        scores.numpy()
    except RuntimeError:  # within a transform of torch.func, whose tensors NumPy cannot read
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # infinite scores give what they give, as in torch
        return _draw(scores, k, epsilon, num_samples, generator)


def _draw(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor] | None:
    """As `draw_sparse_noise`, of scores that NumPy can read."""
    every = scores.shape[1] <= HEADS[0] or num_samples * scores.numel() <= FEW_NOISED
    head = _everything(scores) if every else _head(scores, k, epsilon)
    if head is None:
        return None
    noise = torch.randn(len(scores), num_samples, head.scores.shape[1], dtype=scores.dtype, generator=generator)
    noised = torch.add(head.scores.unsqueeze(1), noise, alpha=epsilon)
    places, values = _select(noised, k)
    classes = head.classes.gather(1, places)
    if head.lowest is not None:
        found = _raised(scores, head.classes, head.lowest, values, epsilon=epsilon, generator=generator)
        if found is not None:
            draws, *again = _select_again(found, k, head.classes, noised)
            classes.view(-1)[draws], values.view(-1)[draws] = again
    return classes, values


def _everything(scores: Tensor) -> Head:
    return Head(scores, torch.arange(scores.shape[1]).expand_as(scores), None)


def _head(scores: Tensor, k: int, epsilon: float) -> Head | None:
    """At least the highest scores of each row; None: see `draw_sparse_noise`.

    Those at and above one of the highest of the column maxima: few more than that one's rank, and found without sorting
    all scores.
    """
    num_classes = scores.shape[1]
    height = max(1, math.isqrt(num_classes // 64))
    columns = num_classes // height
    maxima = torch.unflatten(scores[:, : height * columns], 1, (height, columns)).amax(1) if height > 1 else scores
    ascending = np.sort(maxima.numpy(), axis=1)
    size = _head_size(ascending, k, epsilon, num_classes)
    if size is None:
        return None
    lowest = ascending[:, -size]
    return Head(*scores.topk(size, sorted=False), lowest) if height == 1 else _from_lowest_on(scores, lowest)


def _from_lowest_on(scores: Tensor, lowest: np.ndarray) -> Head | None:
    """The scores that are not below `lowest`, of each row as many as there are; None: too many, for they are equal."""
    batch, num_classes = scores.shape
    entries = scores.numpy()
    outside = entries < lowest[:, np.newaxis]  # NaN is inside
    inside = np.flatnonzero(np.logical_not(outside, out=outside))
    rows = inside // num_classes
    counts = np.bincount(rows, minlength=batch)
    width = counts.max()
    if width > 2 * HEADS[-1]:
        return None
    classes = np.zeros((batch, width), dtype=np.int64)
    head = np.full((batch, width), -np.inf, dtype=entries.dtype)
    places = np.arange(len(inside)) - (np.cumsum(counts) - counts)[rows]
    chosen = inside - rows * num_classes
    classes[rows, places] = chosen
    head[rows, places] = entries[rows, chosen]
    return Head(torch.from_numpy(head), torch.from_numpy(classes), lowest)


def _head_size(ascending: np.ndarray, k: int, epsilon: float, num_classes: int) -> int | None:
    """The least of HEADS with SELDOM points on the other classes, were the k-th noised score the k-th score.

    Args:
        ascending: (batch, many) the highest scores or most of them.
        k: rank.
        epsilon: scale of the noise.
        num_classes: of all classes.
    """
    for size in HEADS:
        if k < size <= ascending.shape[1]:
            gaps = (ascending[:, -k] - ascending[:, -size]) / epsilon
            if num_classes * np.exp(-0.5 * gaps * gaps).sum() <= 2 * SELDOM * len(gaps):  # a bound of the normal tail
                return size
    return None


def _select(noised: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Place and value of the k-th largest in the last dimension; the value is NaN where there is one."""
    entries = noised.numpy()
    ascending = np.sort(entries, axis=-1)  # NaN last
    values = np.minimum(ascending[..., -k], ascending[..., -1])
    places = (entries == values[..., np.newaxis]).argmax(-1)
    return torch.from_numpy(places), torch.from_numpy(values)


def _raised(
    scores: Tensor,
    head_classes: Tensor,
    lowest: np.ndarray,
    values: Tensor,
    *,
    epsilon: float,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Noised scores above `values`: (found,) draws, counted over the batch, (found,) classes and (found,) scores.

    They are those of the classes outside the head. None: nothing is found.
    """
    num_classes, num_samples = scores.shape[1], values.shape[1]
    kth = values.numpy()
    gaps = (kth.min(1) - lowest) / epsilon
    np.fmin(gaps, FAR, out=gaps)  # and FAR where a score is NaN
    if gaps.min() == FAR:
        return None
    density = -log_ndtr(torch.from_numpy(gaps))  # of points on a class in a draw, at most
    counts = torch.poisson(density * (num_samples * num_classes), generator).numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(counts)), counts)
    if len(rows) == 0:
        return None
    uniform = torch.rand(3, len(rows), dtype=torch.float64, generator=generator).numpy()
    draws = rows * num_samples + (uniform[0] * num_samples).astype(np.int64)
    classes = (uniform[1] * num_classes).astype(np.int64)
    tails = -np.expm1(density.numpy()[rows] * (uniform[2] - 1))  # never 0, which would be infinite noise
    before = scores.numpy()[rows, classes]
    after = (before - epsilon * ndtri(torch.from_numpy(tails)).numpy()).astype(before.dtype)
    found = ((after > kth.ravel()[draws]) & (before <= lowest[rows])).nonzero()[0]
    found = found[(head_classes.numpy()[rows[found]] != classes[found, np.newaxis]).all(1)]  # of equals some are in it
    if len(found) == 0:
        return None
    return torch.from_numpy(draws[found]), torch.from_numpy(classes[found]), torch.from_numpy(after[found])


def _select_again(
    found: tuple[Tensor, Tensor, Tensor], k: int, head_classes: Tensor, noised: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Of each draw in which `_raised` found a class outside the head: (draws,) number, class and value of the k-th."""
    draws, others, raised = found
    num_samples = noised.shape[1]
    rows, row = torch.unique(draws, return_inverse=True)
    columns, column = torch.unique(others, return_inverse=True)
    more = noised.new_full((len(rows), len(columns)), -torch.inf)
    more.view(-1).scatter_reduce_(0, row * len(columns) + column, raised, "amax")  # a class counts once
    best = torch.cat([noised.flatten(0, 1)[rows], more], dim=1).topk(k)
    classes = torch.cat([head_classes[rows // num_samples], columns.expand(len(rows), -1)], dim=1)
    return rows, classes.gather(1, best.indices[:, -1:]).squeeze(1), best.values[:, -1]
