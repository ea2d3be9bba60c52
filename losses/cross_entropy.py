"""Cross-entropy: the baseline of every comparison.

As written in Sawada et al. 2020, equations 3 and 4, and Garcin et al. 2023 (two-head paper), equation 3. Good for:
top-1; it is also calibrated for top-k and average-k sets, though only in the limit of infinite data and a model that
can represent anything. Cost: one softmax. Takes soft labels.

Differs from the papers: nothing. Equation 4 of the two-head paper, called its gradient, is that of the softmax.
"""

from __future__ import annotations

from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.kernels.short_rows import are_few


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """``-log softmax(scores)[label]``; for soft labels its mean under them (Sawada eq. 3 and 4).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices, or (batch, classes) probabilities.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    log_probabilities = log_softmax(check_batch(scores, labels, soft_labels=True))
    if labels.is_floating_point():
        return -(labels * log_probabilities).sum(1)
    return -at_labels(log_probabilities, labels)


def log_softmax(scores: Tensor) -> Tensor:
    """Log-softmax over the classes, (batch, classes).

    On CPU torch vectorises within a row, which leaves rows shorter than a vector register to scalar code; across the
    rows it is twice as fast for them.
    """
    if are_few(scores):
        return scores.t().log_softmax(0).t()
    return scores.log_softmax(1)


class CrossEntropy(nn.Module):
    """`cross_entropy` as a module."""

    def __init__(self, *, num_classes: int) -> None:
        super().__init__()

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `cross_entropy`."""
        return cross_entropy(scores, labels)


DECLARATION = LossDeclaration(
    name="cross_entropy",
    module=CrossEntropy,
    paper="-",
    about="The baseline; optimal for top-1, consistent for every set rule.",
    soft_labels=True,
)
