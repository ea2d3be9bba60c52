"""Top-k grouping and top-k transition loss.

Sawada, Kaneko, Sagi: Trade-offs in Top-k Classification Accuracies on Losses for Deep Learning, 2020, equations 5 and
6. Good for: top-k sets where the model is too small for the data, so that cross-entropy gives up the k-th class to gain
the first. Cost: cross-entropy and a selection of k classes. Takes soft labels.

Differs from the paper: nothing; where it is silent, equal scores rank by the lowest class index, and the weight of
equation 6 is differentiated unless `detach_weight`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.declaration import Hyperparameter, LossDeclaration
from setsweep.losses.kernels.selection import top_classes
from setsweep.losses.kernels.short_rows import are_few, by_class, top_mask


def topk_grouping(scores: Tensor, labels: Tensor, *, k: int) -> Tensor:
    """Cross-entropy in which the k classes of the largest scores count as one (Sawada eq. 5).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices, or (batch, classes) probabilities.
        k: set size, 1 to classes - 1.

    Returns:
        (batch,) values. They jump where the label enters the top k.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    own, saved, _ = _parts(scores, labels, k)
    return own - saved


def topk_transition(scores: Tensor, labels: Tensor, *, k: int, detach_weight: bool = False) -> Tensor:
    """Cross-entropy turning into `topk_grouping` as the top k gain probability (Sawada eq. 6).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices, or (batch, classes) probabilities.
        k: set size, 1 to classes - 1.
        detach_weight: hold the probability of the top k, which weighs the two losses, constant in the gradient.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    own, saved, weight = _parts(scores, labels, k)
    return own - (weight.detach() if detach_weight else weight) * saved


def _parts(scores: Tensor, labels: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy, cross-entropy minus grouping loss, and probability of the top k; each (batch,)."""
    scores = check_batch(scores, labels, soft_labels=True)
    check_k(k, scores.shape[1])
    few, soft = are_few(scores), labels.is_floating_point()
    if few:
        scores = by_class(scores)
    log_probabilities = log_softmax(scores)
    own = -(labels * log_probabilities).sum(1) if soft else -at_labels(log_probabilities, labels)
    if few:
        top = top_mask(scores, k)
        weight = (log_probabilities.exp() * top).sum(1)
        together = weight.log()
        if soft:
            return own, (labels * top * (together.unsqueeze(1) - log_probabilities)).sum(1), weight
        inside = at_labels(top, labels) > 0
    else:
        top = top_classes(scores, k)
        top_logs = log_probabilities.gather(1, top)
        together = top_logs.logsumexp(1)
        weight = together.exp()
        if soft:
            return own, (labels.gather(1, top) * (together.unsqueeze(1) - top_logs)).sum(1), weight
        inside = (top == labels.unsqueeze(1)).any(1)
    return own, torch.where(inside, together + own, 0.0), weight


class TopKGrouping(nn.Module):
    """`topk_grouping` as a module."""

    def __init__(self, *, num_classes: int, k: int) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `topk_grouping`."""
        return topk_grouping(scores, labels, k=self.k)


class TopKTransition(nn.Module):
    """`topk_transition` as a module."""

    def __init__(self, *, num_classes: int, k: int, detach_weight: bool) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.detach_weight = detach_weight

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `topk_transition`."""
        return topk_transition(scores, labels, k=self.k, detach_weight=self.detach_weight)


GROUPING = LossDeclaration(
    name="topk_grouping",
    module=TopKGrouping,
    paper="Sawada et al. 2020, eq. 5",
    about="Top-k sets from a small model; best started from a trained one, since early top-k groups are random.",
    needs_k=True,
    soft_labels=True,
)

TRANSITION = LossDeclaration(
    name="topk_transition",
    module=TopKTransition,
    paper="Sawada et al. 2020, eq. 6",
    about="Top-k sets from a small model; begins as cross-entropy and needs no tuning.",
    hyperparameters={"detach_weight": Hyperparameter(default=False, about="hold the weight constant in the gradient")},
    needs_k=True,
    soft_labels=True,
)
