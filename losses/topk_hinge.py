"""Top-k hinge losses: plain, convexified and calibrated.

Plain and convexified: Lapin, Hein, Schiele, Top-k Multiclass SVM, 2015; calibrated: Yang, Koyejo, On the Consistency of
Top-k Surrogate Losses, 2020. As written in Garcin et al. 2022 (noised paper), equations 4, 5 and Table 1. Good for:
comparison, and linear models; deep networks hardly learn from them (noised paper, sections 3.2 and 4.1). Cost: one
selection of k.

Differs from the paper: nothing. The convexified loss has the label among the k, as Table 1 prints it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.kernels.selection import kth_largest_class


def topk_hinge(scores: Tensor, labels: Tensor, *, k: int) -> Tensor:
    """``max(0, 1 + k-th largest score without the label's - score of the label)`` (noised paper eq. 4).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        k: set size, 1 to classes - 1.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    scores, of_label = _checked(scores, labels, k)
    others = scores.detach().scatter(1, labels.unsqueeze(1), -torch.inf)
    return (1 + at_labels(scores, kth_largest_class(others, k)) - of_label).relu()


def convex_topk_hinge(scores: Tensor, labels: Tensor, *, k: int) -> Tensor:
    """A convex upper bound of `topk_hinge` (noised paper Table 1).

    ``max(0, mean of the k largest of (scores + 1 except for the label) - score of the label)``. Arguments, result and
    errors as for `topk_hinge`.
    """
    scores, of_label = _checked(scores, labels, k)
    own = labels.unsqueeze(1)
    margins = torch.ones_like(scores).scatter(1, own, 0.0)
    return (((scores + margins).topk(k, sorted=False).values).mean(1) - of_label).relu()


def calibrated_topk_hinge(scores: Tensor, labels: Tensor, *, k: int) -> Tensor:
    """``max(0, 1 + (k + 1)-th largest score - score of the label)`` (noised paper eq. 5).

    Arguments, result and errors as for `topk_hinge`.
    """
    scores, of_label = _checked(scores, labels, k)
    return (1 + at_labels(scores, kth_largest_class(scores.detach(), k + 1)) - of_label).relu()


def _checked(scores: Tensor, labels: Tensor, k: int) -> tuple[Tensor, Tensor]:
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    return scores, at_labels(scores, labels)


class TopKHinge(nn.Module):
    """`topk_hinge` as a module."""

    def __init__(self, *, num_classes: int, k: int) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `topk_hinge`."""
        return topk_hinge(scores, labels, k=self.k)


class ConvexTopKHinge(TopKHinge):
    """`convex_topk_hinge` as a module."""

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `convex_topk_hinge`."""
        return convex_topk_hinge(scores, labels, k=self.k)


class CalibratedTopKHinge(TopKHinge):
    """`calibrated_topk_hinge` as a module."""

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `calibrated_topk_hinge`."""
        return calibrated_topk_hinge(scores, labels, k=self.k)


PLAIN = LossDeclaration(
    name="topk_hinge",
    module=TopKHinge,
    paper="Lapin et al. 2015; Garcin et al. 2022, eq. 4",
    about="A baseline for top-k sets; not calibrated, and deep networks learn badly from it.",
    needs_k=True,
)

CONVEX = LossDeclaration(
    name="convex_topk_hinge",
    module=ConvexTopKHinge,
    paper="Lapin et al. 2015; Garcin et al. 2022, Table 1",
    about="Convex upper bound of topk_hinge; a gradient on k classes instead of one.",
    needs_k=True,
)

CALIBRATED = LossDeclaration(
    name="calibrated_topk_hinge",
    module=CalibratedTopKHinge,
    paper="Yang and Koyejo 2020; Garcin et al. 2022, eq. 5",
    about="The calibrated hinge that noised_topk_hinge smooths; what is left of it without noise.",
    needs_k=True,
)
