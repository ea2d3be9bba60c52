"""Noised top-k hinge losses, balanced and imbalanced.

Garcin, Servajean, Joly, Salmon: Stochastic smoothing of the top-K calibrated hinge loss for deep imbalanced
classification, ICML 2022, equations 8 to 13. Good for: top-k sets, the balanced one under label noise, the imbalanced
one (on cosine scores) for macro accuracy. Noise of scale epsilon on the scores spreads the gradient of the calibrated
hinge loss over the classes near the k-th. Cost: a few normal draws for each example, hardly any memory, and the same
for every k.

Differs from the paper: a NaN score gives NaN; at the kink the gradient is 0, not that of equation 12; equation 13 is
printed without a scale, and here as in the published code margin and noise are added to the unscaled cosines, then all
is scaled. The scale belongs to the probabilities that are thresholded, too, see `setsweep.losses.ldam`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.declaration import Hyperparameter, LossDeclaration
from setsweep.losses.kernels.noised_kth import smoothed_kth_largest
from setsweep.losses.ldam import class_margins


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
    """``max(0, 1 + smoothed_kth_largest(scores, k + 1) - score of the label)`` (noised paper eq. 10).

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
    lead = smoothed_kth_largest(
        scores, k + 1, epsilon=epsilon, num_samples=num_samples, noise=noise, generator=generator, less=labels
    )
    return (1 + lead).relu()


def noised_imbalanced_topk_hinge(
    scores: Tensor,
    labels: Tensor,
    margins: Tensor,
    *,
    k: int,
    epsilon: float = 0.01,
    num_samples: int = 5,
    scale: float = 60.0,
    noise: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """As `noised_topk_hinge`, with a margin for each class and a scale (noised paper eq. 13).

    ``max(0, scale * (margin of the label + smoothed_kth_largest(scores, k + 1) - score of the label))``. Arguments,
    result and errors are the same, but for these:

    Args:
        scores: (batch, classes), cosines.
        margins: (classes,), see `setsweep.losses.ldam.class_margins`.
        scale: what the cosines, margin and noise added, are multiplied with.
    """
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    margin = at_labels(margins.to(scores.dtype).expand_as(scores), labels)
    lead = smoothed_kth_largest(
        scores, k + 1, epsilon=epsilon, num_samples=num_samples, noise=noise, generator=generator, less=labels
    )
    return (scale * (margin + lead)).relu()


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
        return noised_topk_hinge(scores, labels, noise=noise, **self._settings())

    def _settings(self) -> dict[str, Any]:
        names = ("k", "epsilon", "num_samples", "generator")
        return {name: getattr(self, name) for name in names}


class NoisedImbalancedTopKHinge(NoisedTopKHinge):
    """`noised_imbalanced_topk_hinge` as a module with the margins that the class counts give."""

    margins: Tensor

    def __init__(self, *, class_counts: Tensor, max_margin: float, scale: float, **settings: Any) -> None:
        super().__init__(**settings)
        self.scale = scale
        self.register_buffer("margins", class_margins(class_counts, max_margin), persistent=False)

    def forward(self, scores: Tensor, labels: Tensor, noise: Tensor | None = None) -> Tensor:
        """See `noised_imbalanced_topk_hinge`."""
        settings = self._settings()
        return noised_imbalanced_topk_hinge(scores, labels, self.margins, scale=self.scale, noise=noise, **settings)


BALANCED = LossDeclaration(
    name="noised_topk_hinge",
    module=NoisedTopKHinge,
    paper="Garcin et al. 2022, eq. 8-12",
    about="Top-k sets of fixed size, robust to label noise; cost does not grow with k.",
    hyperparameters={
        "epsilon": Hyperparameter(
            default=0.2, low=0.0, search={"log_uniform": (1e-2, 10.0)}, unit="scores", about="scale of the noise"
        ),
        "num_samples": Hyperparameter(
            default=10, low=1, search={"int": (1, 50)}, unit="draws", about="noise of an example"
        ),
    },
    needs_k=True,
    needs_generator=True,
)

IMBALANCED = LossDeclaration(
    name="noised_imbalanced_topk_hinge",
    module=NoisedImbalancedTopKHinge,
    paper="Garcin et al. 2022, eq. 13",
    about="Macro accuracy of top-k sets on imbalanced data.",
    hyperparameters={
        "epsilon": Hyperparameter(
            default=0.01, low=0.0, search={"log_uniform": (1e-3, 1.0)}, unit="cosines", about="scale of the noise"
        ),
        "num_samples": Hyperparameter(
            default=5, low=1, search={"int": (1, 50)}, unit="draws", about="noise of an example"
        ),
        "max_margin": Hyperparameter(
            default=0.2,
            low=0.0,
            search={"log_uniform": (0.05, 1.0)},
            unit="cosines",
            about="margin of the rarest class",
        ),
        "scale": Hyperparameter(
            default=60.0, above=0.0, search={"uniform": (10.0, 100.0)}, about="what the cosines are multiplied with"
        ),
    },
    head="cosine",
    scaled_by="scale",
    revision=1,  # 0: thresholds were found on the softmax of bare cosines
    needs_k=True,
    needs_class_counts=True,
    needs_generator=True,
)
