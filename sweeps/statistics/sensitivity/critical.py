"""Critical values for many comparisons at once, by quadrature: the same on every machine, no draws.

All are for estimates m_g = mu_g + a + e_g, g = 1..G, with e_g independent N(0, sigma^2 / n), a common to all, and an
estimate s of sigma on nu degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats


@lru_cache
def student(probability: float, degrees: int) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit  # imported late: listing studies must not wait for it

    return float(stdtrit(degrees, probability))


@lru_cache
def studentised_range(confidence: float, groups: int, degrees: int) -> float:
    """The q with P(max_g m_g - min_g m_g <= q s / sqrt(n)) = confidence where all mu_g are equal (Tukey 1953)."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(confidence, groups, degrees))


@lru_cache
def against_one(confidence: float, groups: int, degrees: int) -> float:
    """The d with P(e_h - e_g <= d s sqrt(2 / n) for all others h) = confidence, for one g (Dunnett 1955, one-sided).

    It is the critical value of Hsu's comparison with the best (1984). With z = sqrt(n) e_g / sigma and s = sigma u,
    P = E[Phi(z + sqrt(2) d u)^(G - 1)] over the normal z and u^2 ~ chi2(nu) / nu.
    """
    from scipy.special import ndtr

    z, of_z = _normal(48)
    chi2, of_chi2 = _chi2(degrees, 48)
    spread = np.sqrt(chi2 / degrees)[:, None]

    def covered(d: float) -> float:
        return float(of_chi2 @ (ndtr(z + np.sqrt(2) * d * spread) ** (groups - 1)) @ of_z)

    return _solve(covered, confidence)


@lru_cache(maxsize=4096)
def around_all(confidence: float, ratio: float, groups: int, seeds: int) -> float:
    """The c with P(max_g abs(m_g - mu_g) <= c s / sqrt(n)) >= confidence, where `a` is random too.

    In the two-way model the mean over seeds of a_s is N(0, tau^2 / n), and two independent mean squares are known:
    the residual one estimates sigma^2 on nu = (G - 1)(n - 1) degrees of freedom, that of the seeds sigma^2 + G tau^2
    on n - 1. Their ratio F is given. The variances are replaced by what the mean squares say of them (sigma^2 =
    s^2 nu / X, sigma^2 + G tau^2 = F s^2 (n - 1) / Y, X and Y being chi2 on nu and n - 1; tau^2 >= 0), as in the
    solution of Behrens and Fisher to the like problem of two means, which covers a little more than it says. With
    u ~ N(0, 1), P = E[(Phi((c - tau u) / sigma) - Phi((-c - tau u) / sigma))^G] over u, X and Y.

    Args:
        confidence: 0 to 1.
        ratio: F, the mean square of the seeds over the residual one.
        groups, seeds: G and n, both >= 2.
    """
    from scipy.special import ndtr

    degrees = (groups - 1) * (seeds - 1)
    u, of_u = _normal(48)
    x, of_x = _chi2(degrees, 8 if degrees > 8 else 24)
    y, of_y = _chi2(seeds - 1, 40)
    sigma = np.sqrt(degrees / x)[:, None, None]
    both = ratio * (seeds - 1) / y[None, :, None]
    shift = np.sqrt(np.maximum(both - sigma**2, 0) / groups) * u

    def covered(c: float) -> float:
        inside = (ndtr((c - shift) / sigma) - ndtr((-c - shift) / sigma)) ** groups
        return float(of_x @ (inside @ of_u) @ of_y)

    return _solve(covered, confidence)


def expected_largest(count: int) -> float:
    """The expected largest of so many independent standard normal values: the integral of 1 - Phi^T - (1 - Phi)^T."""
    from scipy.special import ndtr

    x = np.linspace(0, 12, 4801)
    return float(np.trapezoid(1 - ndtr(x) ** count - ndtr(-x) ** count, x))


def _normal(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Hermite for the mean over a standard normal value."""
    x, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return x, weights / weights.sum()


def _chi2(degrees: int, nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights for the mean over a chi2 value: Gauss and Legendre in its probability p = v^2 (3 - 2 v).

    The cubic crowds the nodes at both ends, as small values make the wide bands.
    """
    from scipy.special import chdtri

    v, weights = np.polynomial.legendre.leggauss(nodes)
    v = (v + 1) / 2
    return chdtri(degrees, 1 - v**2 * (3 - 2 * v)), weights / 2 * 6 * v * (1 - v)


def _solve(covered: Callable[[float], float], confidence: float) -> float:
    """The width at which what is covered reaches the confidence."""
    from scipy.optimize import brentq

    high = 4.0
    while covered(high) < confidence:
        high *= 2
    return float(brentq(lambda width: covered(width) - confidence, 0.0, high, xtol=1e-9))
