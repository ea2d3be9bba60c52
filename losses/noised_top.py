"""The smoothed k-th largest score: the mean over normal noise, and a gradient shared by the classes near the k-th.

Garcin et al.: Stochastic smoothing of the top-K calibrated hinge loss for deep imbalanced classification, 2022,
equations 7 and 11.

On CPU most noise is never drawn. The highest scores get theirs; of all the other classes only those matter whose noise
lifts them over the k-th noised score so found, and how many classes come before the first of them is geometrically
distributed. So one draw in place of thousands says that there is none, which is the rule; only else are the others
drawn, given the position of the first. The law is that of independent noise on every class. Where epsilon is so large
that many come up, every class gets its draw.
"""

from __future__ import annotations

from statistics import NormalDist

import torch
from torch import Tensor
from torch.special import ndtr, ndtri

from losses.top_classes import kth_class

CHUNK = 1 << 20  # noised scores held at a time: 4 MiB, which stays in the cache
HEAD = 256  # the most classes that always get noise where not all do
SELDOM = 0.05  # how many other classes come up in a draw, on average and at most


def noised_top(
    scores: Tensor,
    k: int,
    *,
    epsilon: float,
    num_samples: int,
    noise: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean over the draws of the k-th largest noised score, NaN for a row with a NaN score.

    Its gradient is the share of the draws in which each class is the k-th: it lies in [0, 1] and sums to 1.

    Args:
        scores: (batch, classes).
        k: rank, 1 to classes.
        epsilon: scale of the noise, in units of the scores.
        num_samples: draws per example.
        noise: (batch, num_samples, classes) standard normal draws; drawn from `generator` if None. Under
            torch.func.vmap they must be given.
        generator: on the device of the scores; None is torch's global one.

    Returns:
        (batch,).

    Raises:
        ValueError: the shape of `noise` does not fit.
    """
    fixed = scores.detach()
    if epsilon == 0:
        return scores.gather(1, kth_class(fixed, k).unsqueeze(1)).squeeze(1)
    if noise is not None:
        if noise.ndim != 3 or noise.shape[::2] != scores.shape:
            rule = f"(batch, num_samples, classes) = ({scores.shape[0]}, {num_samples}, {scores.shape[1]})"
            raise ValueError(f"noise must have shape {rule}, got {tuple(noise.shape)}.")
        classes, values = _kth_of_noised(fixed, noise.to(scores.dtype), k, epsilon)
    else:
        classes, values = _kth_of_draws(fixed, k, epsilon, num_samples, generator)
    chosen = scores.gather(1, classes)
    return (chosen + (values - chosen.detach())).mean(1)


def _kth_of_noised(scores: Tensor, noise: Tensor, k: int, epsilon: float) -> tuple[Tensor, Tensor]:
    """Class and value of the k-th largest noised score, each (batch, num_samples)."""
    noised = torch.add(scores.unsqueeze(1), noise, alpha=epsilon)
    classes = kth_class(noised, k)
    return classes, noised.gather(2, classes.unsqueeze(2)).squeeze(2)


def _kth_of_draws(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """As `_kth_of_noised`, with noise drawn here."""
    if scores.device.type == "cpu" and not torch.compiler.is_compiling():
        sparse = _kth_of_few_draws(scores, k, epsilon, num_samples, generator)
        if sparse is not None:
            return sparse
    step = max(1, CHUNK // (num_samples * scores.shape[1]))
    parts = []
    for start in range(0, len(scores), step):
        rows = scores[start : start + step]
        size = (len(rows), num_samples, scores.shape[1])
        draws = torch.randn(size, dtype=scores.dtype, device=scores.device, generator=generator)
        parts.append(_kth_of_noised(rows, draws, k, epsilon))
    return torch.cat([classes for classes, _ in parts]), torch.cat([values for _, values in parts])


def _kth_of_few_draws(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor] | None:
    """As `_kth_of_draws`, drawing for the highest scores first; None where too many others would come up."""
    num_classes = scores.shape[1]
    head = _head(scores, k, epsilon)
    if head > min(HEAD, num_classes // 2):
        return None
    top, top_classes = scores.topk(head, sorted=False)
    noise = torch.randn(len(top), num_samples, head, dtype=top.dtype, generator=generator)
    noised = torch.add(top.unsqueeze(1), noise, alpha=epsilon)
    places = kth_class(noised, k)
    values = noised.gather(2, places.unsqueeze(2)).squeeze(2)
    classes = top_classes.gather(1, places)
    chance = ndtr((top.amin(1, keepdim=True) - values) / epsilon)  # of each other class to come up is at most this
    skipped = _skipped(chance, generator)
    pairs = (skipped < num_classes - head).nonzero()
    step = max(1, CHUNK // num_classes)
    for start in range(0, len(pairs), step):
        at = pairs[start : start + step].unbind(1)
        rows = at[0]
        others, raised = _raised_others(
            scores[rows], top_classes[rows], skipped[at], chance[at], epsilon=epsilon, generator=generator
        )
        everyone = torch.cat([noised[at], raised], dim=1)
        best = kth_class(everyone, k).unsqueeze(1)
        values[at] = everyone.gather(1, best).squeeze(1)
        classes[at] = torch.cat([top_classes[rows], others], dim=1).gather(1, best).squeeze(1)
    return classes, values


def _head(scores: Tensor, k: int, epsilon: float) -> int:
    """How many of the highest scores must get noise so that fewer than SELDOM others come up in a draw."""
    reach = -NormalDist().inv_cdf(SELDOM / scores.shape[1]) * epsilon
    near = scores > scores.topk(k).values[:, -1:] - reach
    return max(k, int(near.sum(1).max())) + 1  # the last bounds the others from above, and is itself out of reach


def _skipped(chance: Tensor, generator: torch.Generator | None) -> Tensor:
    """How many trials fail before the first success, whose chance is `chance`; infinite where it is 0."""
    uniform = torch.rand(chance.shape, dtype=chance.dtype, generator=generator)
    return (uniform.log() / (-chance).log1p()).floor()


def _raised_others(
    scores: Tensor,
    top_classes: Tensor,
    skipped: Tensor,
    chance: Tensor,
    *,
    epsilon: float,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor]:
    """The classes outside the top whose noise has an upper tail probability below `chance`, and their noised scores.

    Args:
        scores: (pairs, classes).
        top_classes: (pairs, head) the classes left out.
        skipped: (pairs,) how many of the other classes come before the first such one.
        chance: (pairs,).
        epsilon: scale of the noise.
        generator: of the tail probabilities and of the classes skipped after the first.

    Returns:
        Classes and noised scores, each (pairs, most found for a pair); scores are -inf where a pair has fewer.
    """
    outside = torch.ones_like(scores, dtype=torch.bool).scatter(1, top_classes, False)
    others = outside.nonzero()[:, 1].view(len(scores), -1)
    found, raised = [], []
    while (active := skipped < others.shape[1]).any():
        classes = others.gather(1, skipped.clamp_max(others.shape[1] - 1).long().unsqueeze(1))
        tail = torch.rand(chance.shape, dtype=chance.dtype, generator=generator) * chance
        noised = scores.gather(1, classes).squeeze(1) - epsilon * ndtri(tail.clamp_min(torch.finfo(tail.dtype).tiny))
        found.append(classes)
        raised.append(noised.where(active, -torch.inf).unsqueeze(1))
        skipped = skipped + 1 + _skipped(chance, generator)
    return torch.cat(found, dim=1), torch.cat(raised, dim=1)
