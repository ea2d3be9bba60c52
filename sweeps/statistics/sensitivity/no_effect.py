"""Whether scores depend on hyperparameters at all, from one score a configuration."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats

LENGTHS = (0.3, 1.0)


def permutation_p(positions: npt.ArrayLike, scores: npt.ArrayLike, *, draws: int = 999) -> float:
    """The p-value of the test that scores do not depend on positions.

    The statistic is the largest gain in log likelihood over noise alone, N / 2 log(y'y / y'A^-1 y) - log det A / 2 with
    A = 1 + K, over a fixed list of squared exponential kernels K of unit signal: of all hyperparameters together and of
    each alone, with lengths 0.3 and 1 of the range. It is compared with that of scores permuted among configurations
    (seeded), so that p = (1 + those as large) / (1 + draws) is exact whatever the noise, if under the null
    hypothesis the scores are exchangeable; which they are where positions were not chosen by the scores.

    Args:
        positions: (configurations, hyperparameters), 0 to 1.
        scores: (configurations,), finite.
        draws: how many permutations.
    """
    x, y = np.asarray(positions, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    y = y - y.mean()
    if y @ y < 1e-18 * len(y):
        return 1.0
    draw = np.random.default_rng(0)
    shuffled = np.column_stack([y, draw.permuted(np.repeat(y[:, None], draws, axis=1), axis=0)])
    best = np.full(draws + 1, -np.inf)
    for kernel in _kernels(x):
        best = np.maximum(best, _gain(kernel, shuffled))
    return float((1 + (best[1:] >= best[0] - 1e-9).sum()) / (1 + draws))


def _kernels(x: Floats) -> list[Floats]:
    squares = (x[:, None, :] - x[None, :, :]) ** 2
    alone = list(np.moveaxis(squares, 2, 0))
    distances = alone if len(alone) == 1 else [squares.sum(axis=2), *alone]
    return [np.exp(-distance / (2 * length**2)) for distance in distances for length in LENGTHS]


def _gain(kernel: Floats, y: Floats) -> Floats:
    """For each column of y."""
    from scipy.linalg import solve_triangular  # imported late: listing studies must not wait for it

    factor = np.linalg.cholesky(kernel + np.eye(len(kernel)))
    whitened = solve_triangular(factor, y, lower=True, check_finite=False)
    quadratic = (whitened**2).sum(axis=0)
    gain = len(y) / 2 * np.log((y**2).sum(axis=0) / quadratic) - np.log(np.diag(factor)).sum()
    return np.asarray(gain)
