"""Shares of a surface against quasi-Monte-Carlo, SciPy's estimators of the same shares, and against known functions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import erf
from scipy.stats import qmc, sobol_indices, uniform

from setsweep.sweeps.statistics.sensitivity.shares.sobol import _nodes, sobol_shares
from setsweep.sweeps.statistics.sensitivity.shares.surface import Surface, fit_surface

Floats = npt.NDArray[np.float64]
OF_G = np.array([0.0, 1, 9])


def ishigami(x: Floats) -> Floats:
    z = np.pi * (2 * x - 1)
    return np.sin(z[:, 0]) + 7 * np.sin(z[:, 1]) ** 2 + 0.1 * z[:, 2] ** 4 * np.sin(z[:, 0])


def sobols_g(x: Floats) -> Floats:
    return np.asarray(((np.abs(4 * x - 2) + OF_G) / (1 + OF_G)).prod(axis=1))


def spread_out(columns: int) -> Floats:
    """256 points, as a quasi-random search has them."""
    return np.asarray(qmc.Sobol(columns, seed=0).random_base2(8))


@pytest.fixture(scope="module")
def bumpy() -> Surface:
    draw = np.random.default_rng(0)
    x = draw.random((40, 3))
    return fit_surface(x, 0.8 + 0.05 * np.sin(4 * x[:, 0]) * x[:, 1] + 0.003 * draw.standard_normal(40))


def test_the_shares_are_those_of_the_surface_itself(bumpy: Surface) -> None:
    # SciPy's estimates from 2^14 rows have a standard error of about 1e-3 here.
    found = sobol_shares(bumpy)
    truth = sobol_indices(
        func=lambda x: bumpy.predict(x.T), n=2**14, dists=[uniform()] * 3, rng=np.random.default_rng(1)
    )
    assert found.first == pytest.approx(truth.first_order, abs=0.005)
    assert found.total == pytest.approx(truth.total_order, abs=0.005)
    assert found.variance == pytest.approx(bumpy.predict(qmc.Sobol(3, seed=1).random_base2(14)).var(), rel=1e-3)


@pytest.mark.parametrize("length", [0.05, 0.3, 20.0])
def test_the_rule_is_exact_for_every_length_that_a_surface_may_have(length: float) -> None:
    """E[k(t, x) k(t, x')] at x = x' is the integral of a bell, in closed form by erf."""
    nodes, weights = _nodes()
    x = np.linspace(0, 1, 101)
    found = np.exp(-(((nodes - x[:, None]) / length) ** 2)) @ weights
    assert found == pytest.approx(length * np.pi**0.5 / 2 * (erf((1 - x) / length) + erf(x / length)), abs=1e-13)


def test_the_shares_of_ishigamis_function_are_the_known_ones_within_one_percent() -> None:
    # Ishigami and Homma 1990, a = 7, b = 0.1: V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2, V_1 = (1 + b pi^4/5)^2 / 2,
    # V_2 = a^2/8, V_13 = 8 b^2 pi^8 / 225.
    variance = 49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18 + 0.5
    first, second, both = 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8, 8 * 0.01 * np.pi**8 / 225
    x = spread_out(3)
    found = sobol_shares(fit_surface(x, ishigami(x)))
    assert found.variance == pytest.approx(variance, rel=0.01)
    assert found.first == pytest.approx(np.array([first, second, 0]) / variance, abs=0.01)
    assert found.total == pytest.approx(np.array([first + both, second, both]) / variance, abs=0.01)


def test_the_shares_of_sobols_g_are_the_known_ones_within_one_percent() -> None:
    # Saltelli and Sobol 1995: V_j = 1 / (3 (1 + a_j)^2), V = prod (1 + V_j) - 1, total V_j times the others' 1 + V_i.
    # It has a kink in every column, which a smooth surface rounds off: in four columns it is off by 1.5 %.
    parts = 1 / (3 * (1 + OF_G) ** 2)
    whole = (1 + parts).prod()
    x = spread_out(3)
    found = sobol_shares(fit_surface(x, sobols_g(x)))
    assert found.first == pytest.approx(parts / (whole - 1), abs=0.01)
    assert found.total == pytest.approx(parts * whole / (1 + parts) / (whole - 1), abs=0.01)


def test_shares_do_not_depend_on_the_level_and_the_unit_of_scores() -> None:
    x = spread_out(2)[:64]
    y = np.sin(5 * x[:, 0]) + x[:, 1]
    one, other = sobol_shares(fit_surface(x, y)), sobol_shares(fit_surface(x, 100 + 5 * y))
    assert other.first == pytest.approx(one.first, abs=1e-4)
    assert other.variance == pytest.approx(25 * one.variance, rel=1e-4)


def test_a_flat_surface_has_no_shares(bumpy: Surface) -> None:
    flat = Surface(**{**vars(bumpy), "weights": np.zeros(len(bumpy.x))})
    found = sobol_shares(flat)
    assert (found.first.tolist(), found.total.tolist(), found.variance) == ([0, 0, 0], [0, 0, 0], 0)


def test_computed_twice_they_are_equal(bumpy: Surface) -> None:
    once, twice = sobol_shares(bumpy), sobol_shares(bumpy)
    assert (once.first.tolist(), once.total.tolist()) == (twice.first.tolist(), twice.total.tolist())
