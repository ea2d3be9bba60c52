"""Differentiable top-k cross-entropy: the label's probability of being among the k largest, by a soft sorting network.

Petersen, Kuehne, Borgelt, Deussen: Differentiable Top-k Classification Learning, ICML 2022. Good for: top-k sets, and
several set sizes at once. With P_K(k) the weight of set size k, P the soft permutation matrix of the scores and y the
label, the loss is ``-log(sum over k of P_K(k) * sum over the first k ranks r of P[r, y])``, the part of k = 1 being the
softmax probability. Only the m largest scores, the label's always among them, are sorted. Cost: one selection of m and
a network of log2(m) (log2(m) + 1) / 2 layers; the same for every k below m.

Which relaxation: of those compared there a sorting network, the kind of its best published numbers. NeuralSort's and
SoftSort's matrices have rows that sum to 1 but not columns, so that what is in the logarithm may exceed 1; a network's
is doubly stochastic. Ours is bitonic with Cauchy's distribution, the published package's default, which is smooth; the
paper's tables take the logistic one of d / sqrt(|d|) or of d, of which the first has an infinite slope at ties and both
saturate. For m = 16 and k = 5 a splitter selection network is as deep (10 layers), for larger k deeper.

Differs from the paper: as in the published code the label enters on the first wire and the others after it in falling
order, on which a soft network depends; the softmax is over the m scores; and p (1 - 2e-7) + 1e-7 is in the logarithm,
so that the loss is at most 16.2. P_K is of two kinds, `top1` on size 1 and the rest on size k or, with `spread`, evenly
on 2 to k; all six of the paper's are of them. m is raised to k + 1 where it is less, lowered to the number of classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.declaration import Hyperparameter, LossDeclaration
from setsweep.losses.kernels.sorting_network import bitonic_network, soft_places

FLOOR = 1e-7


def differentiable_topk(
    scores: Tensor,
    labels: Tensor,
    distribution: Tensor,
    *,
    m: int = 16,
    steepness: float = 2.0,
    network: Tensor | None = None,
) -> Tensor:
    """``-log`` of the label's probability of being in the set, its size drawn from `distribution`; see above.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        distribution: (k,) the weights P_K of the set sizes 1 to k, with sum 1; see `size_distribution`.
        m: how many of the largest scores are sorted, more than k and at most classes.
        steepness: of the swaps, per unit of the scores (the inverse temperature).
        network: what `bitonic_network` gives for m, on the device of the scores; made if None.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    scores = check_batch(scores, labels)
    own = at_labels(scores, labels).unsqueeze(1)
    others = scores.scatter(1, labels.unsqueeze(1), -torch.inf).topk(m - 1).values
    sorted_ones = torch.cat([own, others], 1)
    weights = distribution.to(scores.dtype)
    probability = weights[0] * sorted_ones.softmax(1)[:, 0]
    if len(weights) > 1:
        network = (bitonic_network(m).to(scores.device) if network is None else network).to(scores.dtype)
        first = network.shape[2] - m
        places = soft_places(pad(steepness * sorted_ones, (first, 0)), first, network)
        tails = weights[1:].flip(0).cumsum(0)  # of ranks k to 2; rank 1 is in every set that rank 2 is in
        probability = probability + (places[:, -len(weights) :] * torch.cat([tails, tails[-1:]])).sum(1)
    return -(probability * (1 - 2 * FLOOR) + FLOOR).log()


def size_distribution(k: int, *, top1: float, spread: bool) -> Tensor:
    """P_K: `top1` on set size 1, the rest on size k or, if `spread`, evenly on sizes 2 to k; (k,) float64."""
    distribution = torch.zeros(k, dtype=torch.float64)
    distribution[1 if spread else -1 :] = (1 - top1) / max(1, k - 1 if spread else 1)
    distribution[0] = top1 if k > 1 else 1.0
    return distribution


class DifferentiableTopK(nn.Module):
    """`differentiable_topk` as a module with its weights and its network."""

    distribution: Tensor
    network: Tensor

    def __init__(self, *, num_classes: int, k: int, top1: float, spread: bool, steepness: float, m: int) -> None:
        super().__init__()
        self.steepness = steepness
        self.m = min(max(m, check_k(k, num_classes) + 1), num_classes)
        self.register_buffer("distribution", size_distribution(k, top1=top1, spread=spread), persistent=False)
        self.register_buffer("network", bitonic_network(self.m), persistent=False)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `differentiable_topk`."""
        return differentiable_topk(
            scores, labels, self.distribution, m=self.m, steepness=self.steepness, network=self.network
        )


DECLARATION = LossDeclaration(
    name="differentiable_topk",
    module=DifferentiableTopK,
    paper="Petersen et al. 2022",
    about="Top-k sets, with a share for the first place; smooth, and gradients on the largest scores alone.",
    hyperparameters={
        "top1": Hyperparameter(
            default=0.25, low=0.0, high=1.0, search={"uniform": (0.0, 1.0)}, about="weight of sets of one class"
        ),
        "spread": Hyperparameter(default=False, about="spread the other weight over sizes 2 to k, not on k alone"),
        "steepness": Hyperparameter(
            default=2.0,
            above=0.0,
            search={"log_uniform": (0.1, 10.0)},
            unit="1 / scores",
            about="of the swaps (inverse temperature)",
        ),
        "m": Hyperparameter(default=16, low=2, unit="classes", about="how many of the largest scores are sorted"),
    },
    needs_k=True,
)
