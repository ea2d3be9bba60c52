"""Smoothed top-k hinge loss: a log-sum-exp over all sets of k classes.

Berrada, Zisserman, Kumar: Smooth Loss Functions for Deep Top-k Classification, ICLR 2018. Good for: top-k sets with
label noise; every class gets a gradient. Cost: the largest of all losses here, growing with k but less than in
proportion to it.

Differs from the paper: ours is exact in value and gradient for every tau and k; the published code falls back on the
hard loss and approximates its backward pass. Table 1 of the noised paper prints another function (second sum over all
sets). As tau tends to 0 the loss does not tend to `topk_hinge` but to
``max(0, 1 + (k-th largest score without the label's - score of the label) / k)``.

How: what is left of the two sums are those over the sets of k and of k - 1 of the other classes, see
`setsweep.losses.kernels.symmetric_polynomials`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.declaration import Hyperparameter, LossDeclaration
from setsweep.losses.kernels.symmetric_polynomials import log_set_odds


def smooth_topk_hinge(scores: Tensor, labels: Tensor, *, k: int, tau: float = 1.0) -> Tensor:
    """Berrada et al.'s loss with margin 1.

    ``tau log(sum over sets A of exp((1[label not in A] + mean of A's scores) / tau))`` less the same over the sets with
    the label; all sets have k classes.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        k: set size, 1 to classes - 1.
        tau: temperature, in units of the scores.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    scaled = scores / (k * tau)
    of_label = at_labels(scaled, labels)
    others = scaled.scatter(1, labels.unsqueeze(1), -torch.inf)
    log_odds, centre = log_set_odds(others, k)
    return tau * softplus(1 / tau + log_odds + centre - of_label)


class SmoothTopKHinge(nn.Module):
    """`smooth_topk_hinge` as a module."""

    def __init__(self, *, num_classes: int, k: int, tau: float) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.tau = tau

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `smooth_topk_hinge`."""
        return smooth_topk_hinge(scores, labels, k=self.k, tau=self.tau)


DECLARATION = LossDeclaration(
    name="smooth_topk_hinge",
    module=SmoothTopKHinge,
    paper="Berrada et al. 2018",
    about="Top-k sets with label noise; dense gradients, but the costliest loss, and weak on rare classes.",
    hyperparameters={
        "tau": Hyperparameter(
            default=1.0, above=0.0, search={"log_uniform": (1e-2, 10.0)}, unit="scores", about="temperature"
        )
    },
    needs_k=True,
)
