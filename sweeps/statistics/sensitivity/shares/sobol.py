"""Sobol's shares of the variance of a function on the unit cube, by quasi-Monte-Carlo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SobolShares:
    """Shares of the variance of f(x), x uniform on the cube.

    Args:
        first: (dimensions,) Var(E[f | x_j]) / Var(f): what x_j explains alone.
        total: (dimensions,) E[Var(f | all but x_j)] / Var(f): what x_j explains with all its interactions.
        variance: Var(f).
    """

    first: Floats
    total: Floats
    variance: float


def sobol_shares(function: Callable[[Floats], Floats], dimensions: int, *, log2_points: int = 12) -> SobolShares:
    """First-order and total shares (Sobol 1993), by the estimators of Saltelli et al. (2010) and Jansen (1999).

    With rows A_i and B_i of a scrambled Sobol sequence in 2 d dimensions, and A with column j of B written AB_j:

        first_j = mean(f(B) (f(AB_j) - f(A))) / Var,    total_j = mean((f(A) - f(AB_j))^2) / (2 Var)

    The points are always the same, so that the same function has the same shares. A function that is constant has none.

    Args:
        function: values (points,) at the rows of (points, dimensions).
        dimensions: of the cube.
        log2_points: there are 2^log2_points rows, and d + 2 values are taken at each.
    """
    from scipy.stats import qmc  # imported late: listing studies must not wait for it

    both = qmc.Sobol(2 * dimensions, scramble=True, seed=0).random_base2(log2_points)
    a, b = both[:, :dimensions], both[:, dimensions:]
    mixed = np.repeat(a[None], dimensions, axis=0)
    for column in range(dimensions):
        mixed[column, :, column] = b[:, column]
    values = function(np.concatenate([a, b, mixed.reshape(-1, dimensions)])).reshape(dimensions + 2, -1)
    values = values - values[:2].mean()  # the first-order estimator is far less noisy about 0
    of_a, of_b, of_mixed = values[0], values[1], values[2:]
    variance = float((of_a**2 + of_b**2).mean() / 2)
    if variance <= 0:
        return SobolShares(first=np.zeros(dimensions), total=np.zeros(dimensions), variance=0.0)
    first = (of_b * (of_mixed - of_a)).mean(axis=1) / variance
    total = ((of_a - of_mixed) ** 2).mean(axis=1) / 2 / variance
    return SobolShares(first=first, total=total, variance=variance)
