"""Sums over all sets of k classes, against those over all sets of k - 1: exact, in two ways for two kinds of device.

A set weighs exp(sum of its scores); the sums are elementary symmetric polynomials of the exp(scores).

On a CPU, `_log_odds_by_products`: give each class j the probability sigmoid(s_j - c) of being drawn, independently.
Whatever c is, the odds of drawing k against k - 1 classes are those of the two sums, times exp(-c). The distribution of
the number drawn is a product of polynomials with positive coefficients, multiplied up pairwise, with no logarithm,
overflow or cancellation. With c such that about k are drawn, neither probability vanishes.

On a GPU, where the number of kernels counts and not that of logarithms, `_log_odds_by_scans`: the sets of m classes up
to class j are those without j, and j with the sets of m - 1 before it. Over all classes that is one scan in log space
for each m. With the same from the other end it gives the gradient at once: the share of the weight that the sets with j
have.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from setsweep.losses.kernels.chunks import in_parts
from setsweep.losses.kernels.selection import kth_largest_score

BISECTIONS = 7  # of an interval of width 2 log(2 classes), which is 15 to 20 for 1,000 to 10,000 classes
CHUNK = 1 << 22  # logarithms that a scan keeps of some rows: 32 MiB


def log_set_odds(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Logarithm of the sum over the sets of k classes less that of k - 1 classes, as two terms.

    Args:
        scores: (batch, classes), -inf for classes that are in no set; at least k are finite.
        k: set size, at least 1.

    Returns:
        (batch,) the first term, which has the gradient, and (batch,) the second, which is near the k-th largest score.
    """
    if scores.is_cuda:
        centre_of, log_odds_of = kth_largest_score, _log_odds_by_scans
    else:
        centre_of, log_odds_of = _balance, _log_odds_by_products
    centre = centre_of(scores.detach(), k)
    return log_odds_of(scores - centre.unsqueeze(1), k), centre


def _balance(scores: Tensor, k: int) -> Tensor:
    """The number c at which the sum of sigmoid(scores - c) is near k - 1/2, by bisection: (batch,)."""
    kth = kth_largest_score(scores, k)
    width = math.log(2 * scores.shape[1])
    low, high = kth - width, kth + width
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        many = (scores - middle.unsqueeze(1)).sigmoid().sum(1) > k - 0.5
        low, high = torch.where(many, middle, low), torch.where(many, high, middle)
    return (low + high) / 2


def _log_odds_by_products(scores: Tensor, k: int) -> Tensor:
    counts = _product(torch.stack([(-scores).sigmoid(), scores.sigmoid()]), k)
    return counts[k].log() - counts[k - 1].log()


def _product(polynomials: Tensor, degree: int) -> Tensor:
    """The product of the polynomials (coefficients, batch, many) up to `degree`: (degree + 1, batch)."""
    while (half := polynomials.shape[2] // 2) > 0:
        left, right = polynomials[:, :, :half], polynomials[:, :, half : 2 * half]
        product: Tensor = _PairwiseProduct.apply(left, right, min(2 * len(left) - 1, degree + 1))
        unpaired = pad(polynomials[:, :, 2 * half :], (0, 0, 0, 0, 0, len(product) - len(left)))
        polynomials = torch.cat([product, unpaired], dim=2) if unpaired.shape[2] else product
    return polynomials[:, :, 0]


class _PairwiseProduct(torch.autograd.Function):
    """Products of (coefficients, batch, many) polynomials, cut to `length` coefficients, in few passes over memory."""

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
    def vmap(info: Any, in_dims: tuple[int, int, None], left: Tensor, right: Tensor, length: int) -> tuple[Tensor, int]:
        flat = [factor.movedim(dim, 1).flatten(1, 2) for factor, dim in ((left, in_dims[0]), (right, in_dims[1]))]
        product: Tensor = _PairwiseProduct.apply(*flat, length)
        return product.view(length, info.batch_size, -1, product.shape[2]), 1


def _log_odds_by_scans(scores: Tensor, k: int) -> Tensor:
    log_odds: Tensor = _Scans.apply(scores, k)[0]
    return log_odds


class _Scans(torch.autograd.Function):
    """Log odds of (batch, classes) scores, and their gradient, which is as cheap then."""

    generate_vmap_rule = True

    @staticmethod
    def forward(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
        logarithms = 2 * k * scores.shape[1]
        found = in_parts(lambda rows: _scan(rows.double(), k), scores, numbers=CHUNK, numbers_of_row=logarithms)
        return found[0].to(scores.dtype), found[1].to(scores.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, None]:
        (of_scores,) = ctx.saved_tensors
        return gradient.unsqueeze(1) * of_scores, None


def _scan(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Log odds, (rows,), and their gradient, (rows, classes); in double precision, as logarithms are large."""
    both_ways = torch.cat([scores, scores.flip(1)])
    no_set = both_ways.new_full((len(both_ways), 1), -math.inf)
    # sums[m][i, j]: log of the sum over the sets of m of the first j classes of row i
    sums = [both_ways.new_zeros(len(both_ways), scores.shape[1] + 1)]
    for _ in range(k):
        up_to = (both_ways + sums[-1][:, :-1]).logcumsumexp(1)
        sums.append(torch.cat([no_set, up_to], dim=1))
    less, whole = (each[: len(scores), -1:] for each in sums[-2:])
    ahead, behind = torch.stack([each[:, :-1] for each in sums[:-1]]).chunk(2, dim=1)  # of 0, 1, ..., k - 1 classes
    behind = behind.flip(0, 2)  # of k - 1, k - 2, ..., 0
    shares = (ahead + behind + (scores - whole)).exp().sum(0)
    shares_of_less = (ahead[:-1] + behind[1:] + (scores - less)).exp().sum(0)
    return (whole - less).squeeze(1), shares - shares_of_less
