"""A smooth surface through noisy scores: near the truth where there is one, flat where there is none."""

from __future__ import annotations

import numpy as np

from setsweep.sweeps.statistics.sensitivity.shares.surface import fit_surface


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
    used, idle = surface.kernel_.k1.k2.length_scale
    assert idle > 5 * used


def test_noise_is_called_noise() -> None:
    """24 points in five dimensions: what the surface explains is less than a tenth of the variance (seeded)."""
    draw = np.random.default_rng(2)
    x, scores = draw.random((24, 5)), draw.standard_normal(24)
    assert fit_surface(x, scores).predict(x).var() < 0.1 * scores.var()


def test_a_fit_from_a_kernel_found_before_comes_to_the_same_surface() -> None:
    draw = np.random.default_rng(3)
    x = draw.random((32, 2))
    scores = x[:, 0] ** 2 + 0.02 * draw.standard_normal(32)
    first = fit_surface(x, scores)
    again = fit_surface(x, scores, first.kernel_)
    assert np.abs(first.predict(x) - again.predict(x)).max() < 0.02
