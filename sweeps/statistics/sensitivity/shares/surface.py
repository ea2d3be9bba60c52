"""A smooth surface through noisy scores at scattered points of the unit cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats
from setsweep.sweeps.statistics.sensitivity.shares.descent import descend

LENGTH = 0.3
"""The prior of a length is exp(-LENGTH / length): small for lengths of a tenth of the range and less."""

STARTS = (0.15, 0.5, 2.0)
"""Lengths from which the most probable ones are sought."""

_SIGNALS, _LENGTHS, _NOISES = (1e-3, 1e3), (0.05, 20.0), (1e-6, 10.0)
_FIRST_SIGNAL, _FIRST_NOISE = 1.0, 0.5
_FIRST_CURVATURE = 0.3  # of the improbability, for each point
_SHORTER = 0.7  # of the lengths that few points have told
_FEW = 80  # points that tell where the most probable parameters of more may lie
_JITTER = 1e-10  # keeps a covariance positive definite where points are nearly equal and noise is small


@dataclass(frozen=True, eq=False)
class Start:
    """Where a search for the most probable parameters begins.

    Args:
        logs: logarithms of signal, lengths and noise.
        curvature: of the improbability there, roughly, for each point: (parameters, parameters).
    """

    logs: Floats
    curvature: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Surface:
    """The mean of a Gaussian process with the kernel signal exp(-sum_j ((x_j - x'_j) / length_j)^2 / 2).

    Args:
        x: (points, columns), 0 to 1: where scores were.
        weights: (points,) of the kernels there, in units of `spread`.
        level, spread: mean and standard deviation of the scores, which are scaled by them.
        signal: the variance of the process, as a share of that of the scores.
        lengths: (columns,).
        noise: the variance of the noise, as a share of that of the scores.
        start: from which the surface of nearly the same points is found soon.
    """

    x: Floats
    weights: Floats
    level: float
    spread: float
    signal: float
    lengths: Floats
    noise: float
    start: Start

    def predict(self, points: Floats) -> Floats:
        """The scores (points,) at rows of (points, columns)."""
        squares = ((points[:, None, :] - self.x) ** 2) @ self.lengths**-2.0
        return np.asarray(self.level + self.spread * self.signal * (np.exp(-squares / 2) @ self.weights))


def fit_surface(x: Floats, y: Floats, near: Surface | None = None) -> Surface:
    """The Gaussian process with a squared exponential kernel that has a length scale for each column.

    Its lengths, signal and noise are the most probable ones (Rasmussen and Williams 2006, section 5.4) under a prior on
    the lengths, `LENGTH`. Without it noise is often taken for a surface of many short bumps: in five dimensions the
    median share of variance that 24 points of pure noise seem to have is then 1.0 instead of 0.0. They are sought from
    each of `STARTS`; where there are many points, from what some of them say and from somewhat shorter lengths,
    as few points hide short lengths.

    Args:
        x: (points, columns), 0 to 1.
        y: (points,) scores, not all equal.
        near: of nearly the same points, from which the parameters are sought; None: there is none.
    """
    starts = [near.start] if near is not None else _starts(x, y)
    level, spread = float(y.mean()), float(y.std())
    scaled, squares = (y - level) / spread, _squares(x)
    _, best = min((_most_probable(squares, scaled, start) for start in starts), key=lambda found: found[0])
    weights, _ = _solved(_covariance(squares, best.logs, len(y))[0], scaled)
    signal, *lengths, noise = np.exp(best.logs).tolist()
    return Surface(
        x=x,
        weights=weights,
        level=level,
        spread=spread,
        signal=signal,
        lengths=np.array(lengths),
        noise=noise,
        start=best,
    )


def _starts(x: Floats, y: Floats) -> list[Start]:
    few = np.random.default_rng(0).permutation(len(x))[:_FEW]
    if len(x) <= 2 * _FEW or np.ptp(y[few]) == 0:
        return [_start_at(length, x.shape[1]) for length in STARTS]
    found = fit_surface(x[few], y[few]).start
    shorter = np.log([1, *[_SHORTER] * x.shape[1], 1])
    return [found, Start(found.logs + shorter, found.curvature)]


def _start_at(length: float, columns: int) -> Start:
    return Start(np.log([_FIRST_SIGNAL, *[length] * columns, _FIRST_NOISE]), _FIRST_CURVATURE * np.eye(columns + 2))


def _squares(x: Floats) -> Floats:
    """(columns, points * points): the squared differences."""
    return ((x[:, None, :] - x) ** 2).transpose(2, 0, 1).reshape(x.shape[1], -1).copy()


def _most_probable(squares: Floats, y: Floats, start: Start) -> tuple[float, Start]:
    """Minus the largest posterior log density near a start, and where it is."""
    low, high = np.log([_SIGNALS, *[_LENGTHS] * len(squares), _NOISES]).T
    found = descend(lambda logs: _improbability(squares, y, logs), start.logs, len(y) * start.curvature, low, high)
    return found.value, Start(found.at, found.curvature / len(y))


def _improbability(squares: Floats, y: Floats, logs: Floats) -> tuple[float, Floats]:
    """Minus the logarithm of the posterior density and its slope by the logarithms of signal, lengths and noise.

    Minus the log likelihood is y'K^-1 y / 2 + log det K / 2 + N / 2 log 2 pi, and with a = K^-1 y its slope by a
    parameter is tr((K^-1 - a a') dK) / 2 (Rasmussen and Williams 2006, equations 5.8 and 5.9).

    Args:
        squares: (columns, points * points) squared differences.
        y: (points,) of mean 0 and variance 1.
        logs: of signal, lengths and noise.
    """
    from scipy.linalg.lapack import dpotri

    covariance, smooth = _covariance(squares, logs, len(y))
    weights, factor = _solved(covariance, y)
    half_determinant = np.log(np.diag(factor)).sum()
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)  # a triangle of it, beside which there are zeros
    noise, trace, square, fit = np.exp(logs[-1]), np.trace(inverse), weights @ weights, weights @ y
    diagonal = noise + _JITTER
    by_signal = (len(y) - diagonal * trace) - (fit - diagonal * square)
    products = inverse.T  # a view, in the order of the others
    products *= 2  # twice the sum over a triangle is the sum over the square
    products -= weights[:, None] * weights
    products *= smooth
    by_length = squares @ products.ravel() * np.exp(-2 * logs[1:-1])
    shortness = LENGTH * np.exp(-logs[1:-1])
    value = fit / 2 + half_determinant + len(y) / 2 * np.log(2 * np.pi) + shortness.sum()
    slope = np.concatenate([[by_signal], by_length - 2 * shortness, [noise * (trace - square)]]) / 2
    return float(value), slope


def _covariance(squares: Floats, logs: Floats, points: int) -> tuple[Floats, Floats]:
    """Of scores with noise, and without; (points, points)."""
    smooth = np.exp(logs[0] - (np.exp(-2 * logs[1:-1]) / 2) @ squares).reshape(points, points)
    covariance = smooth.copy()
    covariance.flat[:: points + 1] += np.exp(logs[-1]) + _JITTER
    return covariance, smooth


def _solved(covariance: Floats, y: Floats) -> tuple[Floats, Any]:
    """K^-1 y, and the lower Cholesky factor of K."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, failed = dpotrf(covariance.T, lower=1, overwrite_a=1)
    assert not failed, "noise at its lower bound keeps it positive definite"
    return dpotrs(factor, y, lower=1)[0], factor
