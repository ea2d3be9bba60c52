"""The smoothed k-th largest score: its mean over normal noise, and a gradient shared by the classes near the k-th.

Garcin et al.: Stochastic smoothing of the top-K calibrated hinge loss for deep imbalanced classification, 2022,
definition 3.4, estimated as in equation 11; the gradient is the estimate below equation 12. On CPU most noise is never
drawn, see `setsweep.losses.kernels.sparse_noise`.

Noised and smoothed are two things: a draw of noise gives the class and the value of the k-th largest noised score; the
mean of the values over the draws is the smoothed k-th largest score.
"""

from __future__ import annotations

import torch
from torch import Tensor

from setsweep.losses.checks import check_range
from setsweep.losses.kernels.chunks import in_parts
from setsweep.losses.kernels.selection import kth_largest_class
from setsweep.losses.kernels.sparse_noise import HEADS, draw_sparse_noise

CHUNK = 1 << 20  # noised scores held at a time: 4 MiB, which stays in the cache


def smoothed_kth_largest(
    scores: Tensor,
    k: int,
    *,
    epsilon: float,
    num_samples: int,
    noise: Tensor | None = None,
    generator: torch.Generator | None = None,
    less: Tensor | None = None,
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
        less: (batch,) class whose score is subtracted, gradient and all; here because one look-up costs less than two.

    Returns:
        (batch,).

    Raises:
        ValueError: the shape of `noise` does not fit, or `less` is no class (on CPU; on CUDA the look-up asserts it).
    """
    classes, values = _noised_kth_largest(scores.detach(), k, epsilon, num_samples, noise, generator)
    draws = classes.shape[1]
    weights = scores.new_full((draws if less is None else draws + 1,), 1 / draws)
    if less is not None:
        classes = torch.cat([classes, less.unsqueeze(1)], dim=1)
        weights[draws:] = -1
    try:
        chosen = scores.gather(1, classes)
    except RuntimeError:
        check_range("labels", classes[:, -1], "num_classes", scores.shape[1])
        raise
    noise_of_chosen = (values - chosen.detach()[:, :draws]).mean(1)
    return torch.addmv(noise_of_chosen, chosen, weights)


def _noised_kth_largest(
    scores: Tensor, k: int, epsilon: float, num_samples: int, noise: Tensor | None, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Class and value of the k-th largest noised score of each draw, each (batch, draws)."""
    if epsilon == 0:
        classes = kth_largest_class(scores, k).unsqueeze(1)
        return classes, scores.gather(1, classes)
    if noise is None:
        return _draw_noise(scores, k, epsilon, num_samples, generator)
    if noise.ndim != 3 or noise.shape[::2] != scores.shape:
        rule = f"(batch, num_samples, classes) = ({scores.shape[0]}, {num_samples}, {scores.shape[1]})"
        raise ValueError(f"noise must have shape {rule}, got {tuple(noise.shape)}.")
    return _select_noised(scores, noise.to(scores.dtype), k, epsilon)


def _select_noised(scores: Tensor, noise: Tensor, k: int, epsilon: float) -> tuple[Tensor, Tensor]:
    """As `_noised_kth_largest`, noise given."""
    noised = torch.add(scores.unsqueeze(1), noise, alpha=epsilon)
    classes = kth_largest_class(noised, k)
    return classes, noised.gather(2, classes.unsqueeze(2)).squeeze(2)


def _draw_noise(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """As `_noised_kth_largest`, noise drawn: sparsely where it can be, for as many rows at a time as CHUNK allows."""
    sparing = scores.device.type == "cpu" and not torch.compiler.is_compiling()
    noised_classes = min(scores.shape[1], HEADS[-1]) if sparing else scores.shape[1]

    def draw(rows: Tensor) -> tuple[Tensor, Tensor]:
        drawn = draw_sparse_noise(rows, k, epsilon, num_samples, generator) if sparing else None
        return drawn or _draw_all_noise(rows, k, epsilon, num_samples, generator)

    return in_parts(draw, scores, numbers=CHUNK, numbers_of_row=num_samples * noised_classes)


def _draw_all_noise(
    scores: Tensor, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """As `_noised_kth_largest`, noise drawn for every class."""

    def draw(rows: Tensor) -> tuple[Tensor, Tensor]:
        size = (len(rows), num_samples, rows.shape[1])
        noise = torch.randn(size, dtype=rows.dtype, device=rows.device, generator=generator)
        return _select_noised(rows, noise, k, epsilon)

    return in_parts(draw, scores, numbers=CHUNK, numbers_of_row=num_samples * scores.shape[1])
