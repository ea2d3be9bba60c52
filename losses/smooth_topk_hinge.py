"""Smoothed top-k hinge loss: a log-sum-exp over all sets of k classes.

Berrada, Zisserman, Kumar: Smooth Loss Functions for Deep Top-k Classification, ICLR 2018. Good for: top-k sets with
label noise; every class gets a gradient. Cost: the largest of all losses here, growing with k but less than in
proportion to it.

Differs from the paper: ours is exact in value and gradient for every tau and k; the published code falls back on the
hard loss and approximates its backward pass. Table 1 of the noised paper prints another function (second sum over all
sets). As tau tends to 0 the loss tends to ``max(0, 1 + (k-th largest score without the label's - score of the label) /
k)``, not to `topk_hinge`.

How: give each other class j the probability sigmoid(s_j / (k tau) - c) of being drawn, independently. Whatever c is,
the odds of drawing k against k - 1 classes are those of the two sums over sets, times exp(c). The distribution of the
number drawn is a product of polynomials with positive coefficients, multiplied up pairwise, with no logarithm, overflow
or cancellation. With c such that about k are drawn, neither probability vanishes.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad, softplus

from losses.checks import at_labels, check_batch, check_k
from losses.declaration import Hyperparameter, LossDeclaration

BISECTIONS = 7  # of an interval of width 2 log(2 classes), which is 15 to 20


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
    centre = _centre(others.detach(), k)
    drawn = others - centre.unsqueeze(1)
    counts = _product(torch.stack([(-drawn).sigmoid(), drawn.sigmoid()]), k)
    log_odds = counts[k].log() - counts[k - 1].log()
    return tau * softplus(1 / tau + log_odds + centre - of_label)


def _product(polynomials: Tensor, degree: int) -> Tensor:
    """The product of the polynomials (coefficients, batch, many) up to `degree`: (degree + 1, batch)."""
    while (half := polynomials.shape[2] // 2) > 0:
        left, right = polynomials[:, :, :half], polynomials[:, :, half : 2 * half]
        product: Tensor = _PairwiseProduct.apply(left, right, min(2 * len(left) - 1, degree + 1))
        unpaired = pad(polynomials[:, :, 2 * half :], (0, 0, 0, 0, 0, len(product) - len(left)))
        polynomials = torch.cat([product, unpaired], dim=2) if unpaired.shape[2] else product
    return polynomials[:, :, 0]


class _PairwiseProduct(torch.autograd.Function):
    """Products of (coefficients, batch, many) polynomials, cut to `length` coefficients; few passes over few
    numbers.
    """

    @staticmethod
    def forward(left: Tensor, right: Tensor, length: int) -> Tensor:
        product = left.new_zeros(length, *left.shape[1:])
        for i, coefficient in enumerate(left):
            terms = min(len(right), length - i)
            product[i : i + terms].addcmul_(coefficient, right[:terms])
        return product

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, int], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        left, right = ctx.saved_tensors
        to_left, to_right = torch.empty_like(left), torch.zeros_like(right)
        for i, coefficient in enumerate(left):
            of_terms = gradient[i : i + len(right)]
            to_left[i] = (of_terms * right[: len(of_terms)]).sum(0)
            to_right[: len(of_terms)] += coefficient * of_terms
        return to_left, to_right, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, int | None, None], left: Tensor, right: Tensor, length: int
    ) -> tuple[Tensor, int]:
        flat = []
        for factor, dim in ((left, in_dims[0]), (right, in_dims[1])):
            many = (
                factor.movedim(dim, 1) if dim is not None else factor.unsqueeze(1).expand(-1, info.batch_size, -1, -1)
            )
            flat.append(many.flatten(1, 2))
        product: Tensor = _PairwiseProduct.apply(*flat, length)
        return product.view(length, info.batch_size, -1, product.shape[2]), 1


def _centre(others: Tensor, k: int) -> Tensor:
    """C with a sum of sigmoid(others - c) near k - 1/2, by bisection: (batch,)."""
    kth = others.topk(k).values[:, -1]
    width = math.log(2 * others.shape[1])
    low, high = kth - width, kth + width
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        many = (others - middle.unsqueeze(1)).sigmoid().sum(1) > k - 0.5
        low, high = torch.where(many, middle, low), torch.where(many, high, middle)
    return (low + high) / 2


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
        "tau": Hyperparameter(default=1.0, above=0.0, search={"log_uniform": (1e-2, 10.0)}, about="temperature")
    },
    needs_k=True,
)
