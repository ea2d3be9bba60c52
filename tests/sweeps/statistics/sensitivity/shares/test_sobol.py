from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from setsweep.sweeps.statistics.sensitivity.shares.sobol import sobol_shares

Floats = npt.NDArray[np.float64]
OF_G = np.array([0.0, 1, 4.5, 9, 99, 99])


def ishigami(x: Floats) -> Floats:
    z = np.pi * (2 * x - 1)
    return np.sin(z[:, 0]) + 7 * np.sin(z[:, 1]) ** 2 + 0.1 * z[:, 2] ** 4 * np.sin(z[:, 0])


def sobols_g(x: Floats) -> Floats:
    return np.asarray(((np.abs(4 * x - 2) + OF_G) / (1 + OF_G)).prod(axis=1))


def test_the_shares_of_ishigamis_function_are_the_known_ones_within_one_percent() -> None:
    # Ishigami and Homma 1990, a = 7, b = 0.1: V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2, V_1 = (1 + b pi^4/5)^2 / 2,
    # V_2 = a^2/8, V_13 = 8 b^2 pi^8 / 225.
    variance = 49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18 + 0.5
    first, second, both = 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8, 8 * 0.01 * np.pi**8 / 225
    found = sobol_shares(ishigami, 3)
    assert found.variance == pytest.approx(variance, rel=0.01)
    assert found.first == pytest.approx(np.array([first, second, 0]) / variance, abs=0.01)
    assert found.total == pytest.approx(np.array([first + both, second, both]) / variance, abs=0.01)


def test_the_shares_of_sobols_g_are_the_known_ones_within_one_percent() -> None:
    # Saltelli and Sobol 1995: V_j = 1 / (3 (1 + a_j)^2), V = prod (1 + V_j) - 1, total V_j times the others' 1 + V_i.
    parts = 1 / (3 * (1 + OF_G) ** 2)
    whole = (1 + parts).prod()
    found = sobol_shares(sobols_g, 6)
    assert found.variance == pytest.approx(whole - 1, rel=0.01)
    assert found.first == pytest.approx(parts / (whole - 1), abs=0.01)
    assert found.total == pytest.approx(parts * whole / (1 + parts) / (whole - 1), abs=0.01)


def test_shares_do_not_depend_on_the_level_and_the_unit_of_the_function() -> None:
    one, other = sobol_shares(ishigami, 3), sobol_shares(lambda x: 100 + 5 * ishigami(x), 3)
    assert other.first == pytest.approx(one.first)
    assert other.variance == pytest.approx(25 * one.variance)


def test_a_constant_has_no_shares() -> None:
    found = sobol_shares(lambda x: np.ones(len(x)), 2)
    assert (found.first.tolist(), found.total.tolist(), found.variance) == ([0, 0], [0, 0], 0)


def test_computed_twice_they_are_equal() -> None:
    once, twice = sobol_shares(sobols_g, 6), sobol_shares(sobols_g, 6)
    assert (once.first.tolist(), once.total.tolist()) == (twice.first.tolist(), twice.total.tolist())
