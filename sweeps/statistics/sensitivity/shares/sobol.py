"""Sobol's shares of the variance of a smooth surface over the unit cube, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.shares.surface import Surface


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
    """
    columns = range(surface.x.shape[1])
    one = np.array([_mean(surface.x[:, j], surface.lengths[j]) for j in columns])
    two = np.array([_mean_of_two(surface.x[:, j], surface.lengths[j]) for j in columns])
    own = two - one[:, :, None] * one[:, None, :]
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


def _mean(x: Floats, length: float) -> Floats:
    """Of exp(-((t - x) / length)^2 / 2) over t uniform between 0 and 1; (points,)."""
    return _bell(x, length * 2**0.5)


def _mean_of_two(x: Floats, length: float) -> Floats:
    """Of the product of two such, which is another bell at their middle; (points, points)."""
    apart = np.exp(-(((x[:, None] - x) / (2 * length)) ** 2))
    return apart * _bell((x[:, None] + x) / 2, length)


def _bell(middle: Floats, width: float) -> Floats:
    """The integral of exp(-((t - middle) / width)^2) over t from 0 to 1."""
    from scipy.special import erf  # imported late: listing studies must not wait for it

    return np.asarray(width * np.pi**0.5 / 2 * (erf((1 - middle) / width) + erf(middle / width)))
