"""Noised top-k hinge loss, balanced.

Garcin, Servajean, Joly, Salmon: Stochastic smoothing of the top-K calibrated hinge loss for deep imbalanced
classification, ICML 2022, equations 8 to 12. Good for: top-k sets, with label noise above all. Noise of scale epsilon
on the scores spreads the gradient of the calibrated hinge loss over the classes near the k-th. Cost: num_samples normal
draws per score; hardly any memory, and the same for every k.

Differs from the paper: a NaN score gives NaN; at the kink the gradient is 0, not that of equation 12.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from losses.checks import at_labels, check_batch, check_k
from losses.declaration import Hyperparameter, LossDeclaration

CHUNK = 1 << 20  # noised scores held at a time: 4 MiB, which stays in the cache


def noised_topk_hinge(
    scores: Tensor,
    labels: Tensor,
    *,
    k: int,
    epsilon: float = 0.2,
    num_samples: int = 10,
    noise: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """``max(0, 1 + noised_top(scores, k + 1) - score of the label)`` (noised paper eq. 10).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        k: set size, 1 to classes - 1.
        epsilon: scale of the noise, in units of the scores; 0 gives the calibrated hinge loss.
        num_samples: draws per example.
        noise: (batch, num_samples, classes) standard normal draws; drawn from `generator` if None.
        generator: on the device of the scores; None is torch's global one.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    rival = noised_top(scores, k + 1, epsilon=epsilon, num_samples=num_samples, noise=noise, generator=generator)
    return (1 + rival - at_labels(scores, labels)).relu()


def noised_top(
    scores: Tensor,
    k: int,
    *,
    epsilon: float,
    num_samples: int,
    noise: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean over the draws of the k-th largest noised score (noised paper eq. 11), NaN for a row with a NaN score.

    Its gradient is the share of the draws in which each class is the k-th: it lies in [0, 1] and sums to 1.

    Args:
        scores: (batch, classes).
        k: rank, 1 to classes.
        epsilon: see `noised_topk_hinge`, as for the next three.
        num_samples: draws per example.
        noise: the draws themselves.
        generator: where they are drawn.

    Returns:
        (batch,).
    """
    batch, num_classes = scores.shape
    if noise is not None and (noise.ndim != 3 or noise.shape[::2] != scores.shape):
        rule = f"of shape (batch, num_samples, classes) = ({batch}, {num_samples}, {num_classes})"
        raise ValueError(f"noise must be {rule}, got shape {tuple(noise.shape)}.")
    if epsilon == 0:
        num_samples, noise = 1, scores.new_zeros(batch, 1, num_classes)
    rows = max(1, CHUNK // (num_samples * num_classes))
    parts = []
    for start in range(0, batch, rows):
        some = scores[start : start + rows].detach()
        if noise is None:
            draws = torch.randn(
                len(some), num_samples, num_classes, dtype=some.dtype, device=some.device, generator=generator
            )
        else:
            draws = noise[start : start + rows].to(some.dtype)
        noised = torch.add(some.unsqueeze(1), draws, alpha=epsilon)
        classes = noised.topk(k, dim=2).indices
        parts.append((classes[..., -1], draws.gather(2, classes[..., -1:]).mean((1, 2))))
    chosen = torch.cat([part[0] for part in parts])
    shift = torch.cat([part[1] for part in parts])
    smooth = scores.gather(1, chosen).mean(1) + epsilon * shift
    return torch.where(scores.detach().amax(1).isnan(), torch.nan, smooth)


class NoisedTopKHinge(nn.Module):
    """`noised_topk_hinge` as a module that draws its noise from `generator`."""

    def __init__(
        self, *, num_classes: int, k: int, epsilon: float, num_samples: int, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.epsilon = epsilon
        self.num_samples = num_samples
        self.generator = generator

    def forward(self, scores: Tensor, labels: Tensor, noise: Tensor | None = None) -> Tensor:
        """See `noised_topk_hinge`."""
        return noised_topk_hinge(
            scores,
            labels,
            k=self.k,
            epsilon=self.epsilon,
            num_samples=self.num_samples,
            noise=noise,
            generator=self.generator,
        )


DECLARATION = LossDeclaration(
    name="noised_topk_hinge",
    module=NoisedTopKHinge,
    paper="Garcin et al. 2022, eq. 8-12",
    about="Top-k sets of fixed size, robust to label noise; cost does not grow with k.",
    hyperparameters={
        "epsilon": Hyperparameter(
            default=0.2, low=0.0, search={"log_uniform": (1e-2, 10.0)}, about="scale of the noise on the scores"
        ),
        "num_samples": Hyperparameter(default=10, low=1, search={"int": (1, 50)}, about="noise draws per example"),
    },
    needs_k=True,
    needs_generator=True,
)
