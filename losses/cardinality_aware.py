"""Cardinality-aware losses: a head for the classes, and one that chooses for each example how many of them its set has.

Cortes, Mao, Mohri, Mohri, Zhong: Cardinality-Aware Set Prediction and Top-k Classification, NeurIPS 2024. A set of k
classes, the k of the largest scores, costs ``1[label not in it] + lam * cost(k)``. The first head learns the scores by
cross-entropy; the second gives one score r_k for each set size it can choose, and learns the costs c_k of the example
by a cost-sensitive logistic ("comp-sum") or a constrained loss. Good for: sets that are large only where they have to
be, at a price for each class instead of a given mean size. Cost: a second linear layer, and cross-entropy twice.

The sizes are 1, 2, 4, ... up to `max_size`, and cost(k) = log k, both as in the paper's experiments (1 to 8; lam is
0.05); `linear_cost` takes cost(k) = k, the paper's other choice. `chosen_sizes` reads the second head.

Differs from the paper: there the classifier is trained first and the sizes by another network, while here both heads
learn together on the same features, the sizes with `weight`; of these heads `training.head` can only be the first. The
costs are divided by the largest that is possible, since the logistic loss wants them in 0..1. Sum-to-zero scores, which
the constrained loss asks for, are had by taking the mean off; of its auxiliary functions Phi(t) it has the squared
hinge, max(0, 1 - t)^2. No code is published, and of the paper's text we could read the abstract and the captions alone:
the losses are the two families as the authors define them, ``sum of (1 - c_k) * -log softmax(r)_k`` and
``sum of c_k * Phi(-r_k)``, from memory of the paper and not checked against its print.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.declaration import Hyperparameter, LossDeclaration


def cost_sensitive_cardinality(
    scores: Tensor,
    size_scores: Tensor,
    labels: Tensor,
    sizes: Tensor,
    *,
    lam: float = 0.05,
    linear_cost: bool = False,
    weight: float = 1.0,
) -> Tensor:
    """Cross-entropy of the classes plus ``weight * sum over sizes of (1 - cost) * -log softmax(size_scores)``.

    Args:
        scores: (batch, classes) of the classes. Which classes lead is not differentiated.
        size_scores: (batch, at least sizes), the first columns of which score the sizes; others are not looked at.
        labels: (batch,) class indices.
        sizes: (sizes,) int64, see `set_sizes`.
        lam: price of a set, in errors: of log k, or of k with `linear_cost`.
        linear_cost: a set of k classes costs k, not log k.
        weight: of the sizes' loss against that of the classes.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    size_scores = check_batch(size_scores, labels)[:, : len(sizes)]
    costs = set_costs(scores, labels, sizes, lam=lam, linear_cost=linear_cost)
    return cross_entropy(scores, labels) - weight * ((1 - costs) * size_scores.log_softmax(1)).sum(1)


def constrained_cardinality(
    scores: Tensor,
    size_scores: Tensor,
    labels: Tensor,
    sizes: Tensor,
    *,
    lam: float = 0.05,
    linear_cost: bool = False,
    weight: float = 1.0,
) -> Tensor:
    """Cross-entropy of the classes plus ``weight * sum over sizes of cost * max(0, 1 + centred size score)^2``.

    Arguments, result and errors as for `cost_sensitive_cardinality`.
    """
    size_scores = check_batch(size_scores, labels)[:, : len(sizes)]
    costs = set_costs(scores, labels, sizes, lam=lam, linear_cost=linear_cost)
    centred = size_scores - size_scores.mean(1, keepdim=True)
    return cross_entropy(scores, labels) + weight * (costs * (1 + centred).relu() ** 2).sum(1)


def set_sizes(max_size: int, num_classes: int) -> Tensor:
    """The sizes that a set may have: powers of two up to `max_size` and below `num_classes`, (sizes,) int64."""
    largest = min(max_size, num_classes - 1)
    return 2 ** torch.arange(largest.bit_length())


def set_costs(scores: Tensor, labels: Tensor, sizes: Tensor, *, lam: float, linear_cost: bool) -> Tensor:
    """What sets of the classes of the largest scores cost; of equal scores the lowest class is first.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        sizes: (sizes,) int64, ascending.
        lam, linear_cost: see `cost_sensitive_cardinality`.

    Returns:
        (batch, sizes) in 0..1, 1 being an error with the largest set. Not differentiable.
    """
    scores = check_batch(scores, labels).detach()
    own = at_labels(scores, labels).unsqueeze(1)
    before = torch.arange(scores.shape[1], device=scores.device) < labels.unsqueeze(1)
    rank = ((scores > own) | ((scores == own) & before)).sum(1, keepdim=True)
    counted = sizes.to(scores.dtype)
    prices = lam * (counted if linear_cost else counted.log())
    return ((rank >= sizes) + prices) / (1 + prices[-1])


def chosen_sizes(size_scores: Tensor, sizes: Tensor) -> Tensor:
    """The size of each example's set, (batch,) int64: that of the largest score, of equal ones the smallest size."""
    return sizes[size_scores[:, : len(sizes)].argmax(1)]


class CostSensitiveCardinality(nn.Module):
    """`cost_sensitive_cardinality` as a module that takes the pair (class scores, size scores)."""

    sizes: Tensor

    def __init__(self, *, num_classes: int, lam: float, max_size: int, linear_cost: bool, weight: float) -> None:
        super().__init__()
        self.lam = lam
        self.linear_cost = linear_cost
        self.weight = weight
        self.register_buffer("sizes", set_sizes(max_size, num_classes), persistent=False)

    def forward(self, scores: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
        """See `cost_sensitive_cardinality`."""
        return cost_sensitive_cardinality(
            *scores, labels, self.sizes, lam=self.lam, linear_cost=self.linear_cost, weight=self.weight
        )


class ConstrainedCardinality(CostSensitiveCardinality):
    """`constrained_cardinality` as a module that takes the pair (class scores, size scores)."""

    def forward(self, scores: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
        """See `constrained_cardinality`."""
        return constrained_cardinality(
            *scores, labels, self.sizes, lam=self.lam, linear_cost=self.linear_cost, weight=self.weight
        )


_HYPERPARAMETERS = {
    "lam": Hyperparameter(
        default=0.05, low=0.0, search={"log_uniform": (0.01, 1.0)}, unit="errors", about="price of the sets' size"
    ),
    "max_size": Hyperparameter(default=8, low=1, unit="classes", about="largest size; with 1, 2, 4, ... below it"),
    "linear_cost": Hyperparameter(default=False, about="a set of k classes costs k, not log k"),
    "weight": Hyperparameter(default=1.0, low=0.0, search={"log_uniform": (0.1, 10.0)}, about="of the sizes' loss"),
}

COST_SENSITIVE = LossDeclaration(
    name="cost_sensitive_cardinality",
    module=CostSensitiveCardinality,
    paper="Cortes et al. 2024, cost-sensitive comp-sum loss (logistic)",
    about="A set size chosen for each example, at a price for larger sets.",
    hyperparameters=_HYPERPARAMETERS,
    head="two_head",
    either_head_predicts=False,
)

CONSTRAINED = LossDeclaration(
    name="constrained_cardinality",
    module=ConstrainedCardinality,
    paper="Cortes et al. 2024, cost-sensitive constrained loss (squared hinge)",
    about="The same by margins instead of probabilities of the sizes.",
    hyperparameters=_HYPERPARAMETERS,
    head="two_head",
    either_head_predicts=False,
)
