"""A smooth surface through noisy scores at scattered points of the unit cube."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from setsweep.sweeps.statistics.sensitivity.block import Floats

LENGTH = 0.3
"""The prior of a length is exp(-LENGTH / length): small for lengths of a tenth of the range and less."""

STARTS = (0.5, 0.15, 2.0)
"""Lengths from which the most probable ones are sought."""


def fit_surface(x: Floats, y: Floats, kernel: Any = None) -> Any:
    """The Gaussian process with a squared exponential kernel that has a length scale for each column.

    Its lengths, signal and noise are the most probable ones (Rasmussen and Williams 2006, section 5.4) under a prior on
    the lengths, `LENGTH`. Without it noise is often taken for a surface of many short bumps: in five dimensions the
    median share of variance that 24 points of pure noise seem to have is then 1.0 instead of 0.0.

    Args:
        x: (points, columns), 0 to 1.
        y: (points,) scores.
        kernel: one fitted before, from which the parameters are sought; None: from each of `STARTS`.
    """
    from sklearn.exceptions import ConvergenceWarning  # imported late: it takes a second
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    starts: tuple[float, ...] = ()
    if kernel is None:
        starts, lengths = STARTS, RBF(np.full(x.shape[1], STARTS[0]), (0.05, 20.0))
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * lengths + WhiteKernel(0.5, (1e-6, 10.0))
    process = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=partial(_most_probable, starts=starts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length at its bound: a hyperparameter without effect
        return process.fit(x, y)


def _most_probable(
    objective: Callable[[Floats], tuple[float, Floats]], first: Floats, bounds: Floats, *, starts: tuple[float, ...]
) -> tuple[Any, float]:
    """The parameters of the largest posterior density; the search stops where shares no longer change.

    Args:
        objective: minus the log likelihood and its gradient by the logarithms of signal, lengths and noise.
        first: where the search begins, in logarithms.
        bounds: of the logarithms.
        starts: it begins with all lengths at each of these too; empty: from `first` alone.
    """
    from scipy.optimize import minimize

    def penalised(logs: Floats) -> tuple[float, Floats]:
        value, slope = objective(logs)
        shortness = LENGTH * np.exp(-logs[1:-1])
        return value + shortness.sum(), slope - np.concatenate([[0.0], shortness, [0.0]])

    options = {"maxiter": 60, "ftol": 1e-6}
    places = [np.concatenate([first[:1], np.full(len(first) - 2, np.log(one)), first[-1:]]) for one in starts] or [
        first
    ]
    found = [minimize(penalised, one, method="L-BFGS-B", jac=True, bounds=bounds, options=options) for one in places]
    best = min(found, key=lambda one: float(one.fun))
    return best.x, float(best.fun)
