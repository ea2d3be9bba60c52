"""A smooth surface through noisy scores: near the truth where there is one, flat where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from setsweep.sweeps.statistics.sensitivity.shares.surface import LENGTH, STARTS, _start_at, fit_surface


def test_a_smooth_function_is_found_under_noise() -> None:
    """64 points of an additive function that spans 1.25, noise of 0.05: the surface is off by less than the noise."""
    draw = np.random.default_rng(0)
    x = draw.random((64, 2))
    truth = (x[:, 0] - 0.3) ** 2 + x[:, 1] * 0.8
    surface = fit_surface(x, truth + 0.05 * draw.standard_normal(64))
    assert np.sqrt(((surface.predict(x) - truth) ** 2).mean()) < 0.05


def test_a_column_without_effect_has_a_long_length() -> None:
    draw = np.random.default_rng(1)
    x = draw.random((48, 2))
    surface = fit_surface(x, np.sin(4 * x[:, 0]) + 0.02 * draw.standard_normal(48))
    used, idle = surface.lengths
    assert idle > 5 * used


def test_noise_is_called_noise() -> None:
    """24 points in five dimensions: what the surface explains is less than a tenth of the variance (seeded)."""
    draw = np.random.default_rng(2)
    x, scores = draw.random((24, 5)), draw.standard_normal(24)
    assert fit_surface(x, scores).predict(x).var() < 0.1 * scores.var()


def test_a_fit_from_a_surface_found_before_comes_to_the_same_surface() -> None:
    draw = np.random.default_rng(3)
    x = draw.random((32, 2))
    scores = x[:, 0] ** 2 + 0.02 * draw.standard_normal(32)
    first = fit_surface(x, scores)
    again = fit_surface(x, scores, first)
    assert np.abs(first.predict(x) - again.predict(x)).max() < 0.02


@pytest.mark.parametrize(("points", "columns"), [(24, 2), (200, 3)])
def test_it_is_scikit_learns_process_with_the_same_parameters(points: int, columns: int) -> None:
    draw = np.random.default_rng(4)
    x = draw.random((points, columns))
    y = np.sin(4 * x[:, 0]) * x[:, 1] + x[:, -1] ** 2 + 0.1 * draw.standard_normal(points)
    ours = fit_surface(x, y)
    kernel = ConstantKernel(ours.signal) * RBF(ours.lengths) + WhiteKernel(ours.noise)
    theirs = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None).fit(x, y)
    assert ours.predict(x) == pytest.approx(theirs.predict(x), abs=1e-9)
    # Its parameters are the most probable ones: any change of one of them costs more than the prior gives.
    best = _density(theirs, theirs.kernel_.theta)
    for number in range(columns + 2):
        for change in (-0.05, 0.05):
            logs = theirs.kernel_.theta.copy()
            logs[number] += change
            assert _density(theirs, logs) < best + 1e-4


def _density(process: Any, logs: Any) -> float:
    return float(process.log_marginal_likelihood(logs) - LENGTH * np.exp(-logs[1:-1]).sum())


def test_many_points_come_to_the_same_surface_as_from_all_starts() -> None:
    """A cusp, whose best length is short: 80 points do not tell it from a long one, all 240 do (seeded)."""
    draw = np.random.default_rng(5)
    x = draw.random((240, 2))
    y = -0.05 * np.abs(10 ** (2 * x[:, 0] - 1) - 1) ** 0.5 + 0.01 * draw.standard_normal(240)
    found = fit_surface(x, y)
    others = [fit_surface(x, y, replace(found, start=_start_at(length, 2))) for length in STARTS]
    assert all(np.abs(found.lengths[0] / other.lengths[0] - 1) < 0.02 for other in others)
