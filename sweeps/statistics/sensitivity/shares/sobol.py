"""Sobol's shares of the variance of a smooth surface over the unit cube."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.shares.surface import Surface

NODES = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class SobolShares:
    """Shares of the variance of f(x), x uniform on the cube.

    Args:
        first: (columns,) Var(E[f | x_j]) / Var(f): what x_j explains alone.
        total: (columns,) E[Var(f | all but x_j)] / Var(f): what x_j explains with all its interactions.
        variance: Var(f).
    """

    first: Floats
    total: Floats
    variance: float


def sobol_shares(surface: Surface) -> SobolShares:
    """First-order and total shares (Sobol 1993) of the mean of a Gaussian process (Oakley and O'Hagan 2004).

    With a the weights, k_j(t, x_i) the kernel's factor of column j at point i, and expectations over t uniform between
    0 and 1,

        m_j(i) = E[k_j(t, x_i)],   M_j(i, i') = E[k_j(t, x_i) k_j(t, x_i')],   C_j = M_j - m_j m_j'

    the variance is a'(prod_j M_j - prod_j m_j m_j') a. Of it column j explains a'(C_j prod_{l != j} m_l m_l') a alone
    and a'(C_j prod_{l != j} M_l) a with all its interactions; products are by element. A flat surface has no shares.
    Expectations are taken by Gauss's rule, whose `NODES` nodes give them to 14 digits for all lengths that a surface
    may have.
    """
    nodes, shares = _nodes()
    columns = range(surface.x.shape[1])
    kernels = [np.exp(-(((surface.x[:, j, None] - nodes) / surface.lengths[j]) ** 2) / 2) for j in columns]
    one = np.array([kernel @ shares for kernel in kernels])
    apart = [kernel - mean[:, None] for kernel, mean in zip(kernels, one, strict=True)]
    own = np.array([(each * shares) @ each.T for each in apart])
    two = own + one[:, :, None] * one[:, None, :]
    weights = surface.signal * surface.spread * surface.weights
    mean = one.prod(axis=0) @ weights
    variance = float(weights @ two.prod(axis=0) @ weights - mean**2)
    if variance <= 0:
        return SobolShares(first=np.zeros(len(own)), total=np.zeros(len(own)), variance=0.0)
    first, total = np.empty(len(own)), np.empty(len(own))
    for j in columns:
        alone = weights * np.delete(one, j, axis=0).prod(axis=0)
        first[j] = alone @ own[j] @ alone
        total[j] = weights @ (own[j] * np.delete(two, j, axis=0).prod(axis=0)) @ weights
    return SobolShares(first=first / variance, total=total / variance, variance=variance)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Of Gauss's rule between 0 and 1, with their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2
