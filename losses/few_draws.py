"""Draws of the k-th largest noised score for which most of the noise is never drawn, on CPU.

The highest scores, the head, get their noise. Of the other classes only those matter whose noise lifts them over the
k-th noised score so found. Each has its own small chance p of that, and such trials are points of a Poisson process: a
class succeeds if at least one point falls on it, where -log(1 - p) points fall on average. So one Poisson number for
the whole batch says how many there are, mostly few, and only their classes are looked at. The law is that of
independent noise on every class.

NumPy sorts because it sorts short rows with vector instructions: in a sixth of the time that torch takes to select from
them, and in the same time for every k.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.special import log_ndtr, ndtr, ndtri

HEADS = (24, 48, 96, 192, 384)  # how many classes get noise where not all do; few sizes, so that near k share one
FEW = 1 << 16  # so many noised scores are drawn in less time than it takes to choose among them
SELDOM = 0.02  # about how many points may fall on the other classes in a draw


def kth_of_few_draws(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor] | None:
    """Class and value of the k-th largest noised score, each (batch, num_samples).

    None where more than the largest of HEADS would need noise, and within the transforms of torch.func.
    """
    try:
        scores.numpy()
    except RuntimeError:  # within a transform of torch.func, whose tensors NumPy cannot read
        return None
    every = scores.shape[1] <= HEADS[0] or num_samples * scores.numel() <= FEW
    head_classes = torch.arange(scores.shape[1]).expand_as(scores) if every else _head_classes(scores, k, epsilon)
    if head_classes is None:
        return None
    head = scores.gather(1, head_classes)
    noise = torch.randn(len(head), num_samples, head.shape[1], dtype=head.dtype, generator=generator)
    noised = torch.add(head.unsqueeze(1), noise, alpha=epsilon)
    values, places = _kth_largest(noised, k)
    classes = head_classes.gather(1, places)
    if head.shape[1] < scores.shape[1]:
        found = _raised(scores, head[:, 0], values, epsilon=epsilon, generator=generator)
        if found is not None:
            draws, *kth = _kth_with(found, k, head_classes, noised)
            classes.view(-1)[draws], values.view(-1)[draws] = kth
    return classes, values


def _head_classes(scores: Tensor, k: int, epsilon: float) -> Tensor | None:
    """(batch, head) the classes with the highest scores, the lowest of them first; None: see `kth_of_few_draws`.

    The highest scores lie in the columns with the highest maxima, so only those are searched.
    """
    num_classes = scores.shape[1]
    height = max(1, math.isqrt(num_classes // 64))
    columns = num_classes // height
    maxima = torch.unflatten(scores[:, : height * columns], 1, (height, columns)).amax(1) if height > 1 else scores
    order = torch.from_numpy(np.argsort(maxima.numpy(), axis=1)[:, -HEADS[-1] :])
    size = _head_size(maxima.gather(1, order), k, epsilon, num_classes)
    if size is None:
        return order if order.shape[1] == num_classes else None
    if height == 1:
        return order[:, -size:]
    firsts = torch.arange(0, height * columns, columns).view(1, -1, 1)
    rest = torch.arange(height * columns, num_classes).expand(len(scores), -1)
    candidates = torch.cat([(order[:, -size:].unsqueeze(1) + firsts).flatten(1), rest], dim=1)
    places = np.argpartition(scores.gather(1, candidates).numpy(), -size, axis=1)[:, -size:]
    return candidates.gather(1, torch.from_numpy(places))


def _head_size(highest: Tensor, k: int, epsilon: float, num_classes: int) -> int | None:
    """The least of HEADS with SELDOM points on the other classes, were the k-th noised score the k-th score.

    Args:
        highest: (batch, many), ascending.
        k: rank.
        epsilon: scale of the noise.
        num_classes: of all classes.
    """
    for size in HEADS:
        if k < size <= highest.shape[1]:
            gaps = (highest[:, -size] - highest[:, -k]) / epsilon
            if num_classes * ndtr(gaps).mean().item() <= SELDOM:
                return size
    return None


def _kth_largest(noised: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Value and place of the k-th largest in the last dimension; the value is NaN where there is one."""
    entries = noised.numpy()
    ascending = np.sort(entries, axis=-1)  # NaN last
    values = np.minimum(ascending[..., -k], ascending[..., -1])
    places = (entries == values[..., np.newaxis]).argmax(-1)
    return torch.from_numpy(values), torch.from_numpy(places)


def _raised(
    scores: Tensor, lowest: Tensor, values: Tensor, *, epsilon: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Noised scores above `values`: (found,) draws, counted over the batch, (found,) classes and (found,) scores.

    They are those of all classes; what is found in the head does not count. None: nothing is found.
    """
    num_classes, num_samples = scores.shape[1], values.shape[1]
    gaps = (values - lowest.unsqueeze(1)) / epsilon
    density = -log_ndtr(gaps).nan_to_num_().flatten()  # of points on a class, at most; none where a score is NaN
    points = int(torch.poisson(density.sum() * num_classes, generator))
    if points == 0:
        return None
    draws = density.multinomial(points, replacement=True, generator=generator)
    classes = torch.randint(num_classes, (points,), generator=generator)
    share = 1 - torch.rand(points, dtype=density.dtype, generator=generator)  # never 0, which would be infinite noise
    tails = -torch.expm1(-density[draws] * share)
    rows = draws // num_samples
    before = scores[rows, classes]
    after = before - epsilon * ndtri(tails)
    found = ((after > values.flatten()[draws]) & (before <= lowest[rows])).nonzero().squeeze(1)
    return (draws[found], classes[found], after[found]) if len(found) > 0 else None


def _kth_with(
    found: tuple[Tensor, Tensor, Tensor], k: int, head_classes: Tensor, noised: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Of each draw in which `_raised` found a class outside the head: (draws,) number, class and value of the k-th."""
    draws, others, raised = found
    num_samples = noised.shape[1]
    outside = (head_classes[draws // num_samples] != others.unsqueeze(1)).all(1)
    rows, row = torch.unique(draws[outside], return_inverse=True)
    columns, column = torch.unique(others[outside], return_inverse=True)
    more = noised.new_full((len(rows), len(columns)), -torch.inf)
    more.view(-1).scatter_reduce_(0, row * len(columns) + column, raised[outside], "amax")  # a class counts once
    best = torch.cat([noised.flatten(0, 1)[rows], more], dim=1).topk(k)
    classes = torch.cat([head_classes[rows // num_samples], columns.expand(len(rows), -1)], dim=1)
    return rows, classes.gather(1, best.indices[:, -1:]).squeeze(1), best.values[:, -1]
