from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.shares.crossed import grid_shares
from setsweep.sweeps.statistics.sensitivity.two_way import accuracies, fit_two_way


def made(draw: Any, shape: tuple[int, ...], alpha: float, seed: float, rest: float) -> Any:
    """Scores with a linear effect of the first factor of this root mean square, and spreads of seed and rest."""
    effect = np.linspace(-1, 1, shape[0])
    effect = alpha * effect / np.sqrt((effect**2).mean())
    y = effect.reshape(-1, *[1] * (len(shape) - 1)) + seed * draw.normal(size=shape[-1])
    return y + rest * draw.normal(size=shape)


def test_a_table_without_noise_is_taken_apart_exactly() -> None:
    # y = a_i + b_j + i j: a = -1, 1; b = -2, 0, 2; interaction +-0.5; seeds +-0.25. Mean squares over levels: 1, 8/3,
    # and for the product of (-1, 1) and (-1, 0, 1) times 0.5: 0.25 * 2 / 3. One seed's variance: 0.25^2 * 2 / (2 - 1).
    a, b, s = np.array([-1.0, 1]), np.array([-2.0, 0, 2]), np.array([-0.25, 0.25])
    y = a[:, None, None] + b[None, :, None] + 0.5 * a[:, None, None] * np.sign(b)[None, :, None] + s
    found = grid_shares(y, ["alpha", "batch_size"])
    assert [row.source for row in found.rows] == [
        ("alpha",),
        ("batch_size",),
        ("alpha", "batch_size"),
        ("seed",),
        ("configuration x seed",),
    ]
    assert [row.variance for row in found.rows] == pytest.approx([1, 8 / 3, 1 / 6, 0.125, 0], abs=1e-12)
    assert found.of("batch_size").share == pytest.approx((8 / 3) / (1 + 8 / 3 + 1 / 6 + 0.125))
    assert found.of("alpha").deviation == pytest.approx(1)
    assert [row.degrees for row in found.rows] == [1, 2, 2, 1, 5]


def test_shares_add_up_to_one_and_variances_to_the_whole() -> None:
    found = grid_shares(made(np.random.default_rng(0), (5, 3, 2, 4), 1, 0.5, 1), ["alpha", "epsilon", "point"])
    assert sum(row.share for row in found.rows) == pytest.approx(1)
    assert sum(row.variance for row in found.rows) == pytest.approx(found.variance)
    assert len(found.rows) == 7 + 2
    assert found.of("point", "alpha").source == ("alpha", "point")


def test_the_f_test_of_one_factor_is_that_of_the_two_way_model() -> None:
    z = np.random.default_rng(0).normal(size=(5, 4))
    found = grid_shares(z, ["alpha"])
    model = fit_two_way(accuracies(z))
    assert found.of("alpha").p == pytest.approx(model.p_no_effect(), rel=1e-9)
    assert found.of("configuration x seed").variance == pytest.approx(model.residual)
    assert found.of("configuration x seed").p is None


def test_a_negative_component_is_set_to_zero_and_said_to_be() -> None:
    # alpha's means are equal: its mean square is 0, less than what is left.
    found = grid_shares([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], ["alpha"])
    row = found.of("alpha")
    assert (row.variance, row.share, row.cut, row.p) == (0.0, 0.0, True, 1.0)
    assert not found.of("configuration x seed").cut


def test_levels_and_seeds_with_holes_are_left_out_and_named() -> None:
    y = made(np.random.default_rng(0), (4, 3, 5), 1, 0.5, 0.5)
    holed = y.copy()
    holed[2] = np.nan
    found = grid_shares(holed, ["alpha", "batch_size"])
    assert found.left_out == ((2,), (), ())
    assert found.rows == grid_shares(np.delete(y, 2, axis=0), ["alpha", "batch_size"]).rows


def test_scores_that_are_all_equal_have_no_shares() -> None:
    found = grid_shares(np.full((3, 4), 0.5), ["alpha"])
    assert found.variance == pytest.approx(0)
    assert found.of("alpha").p is None


@pytest.mark.parametrize(
    ("shape", "factors", "rule"),
    [
        ((3, 4), ["a", "b"], "scores must have 3 axes, got 2"),
        ((3, 4), [], "factors must have distinct names"),
        ((3, 3, 4), ["a", "a"], "factors must have distinct names"),
        ((3, 4), ["seed"], "factors must have distinct names other than 'seed'"),
        ((3, 1), ["a"], "every factor must have 2 levels and 2 seeds without holes at least"),
        ((1, 3), ["a"], "every factor must have 2 levels and 2 seeds without holes at least"),
    ],
)
def test_what_is_no_grid_is_refused(shape: tuple[int, ...], factors: list[str], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        grid_shares(np.zeros(shape), factors)


def test_components_are_unbiased_before_they_are_cut_and_the_tests_keep_their_level() -> None:
    # 2000 grids 5 x 4 seeds, true components 1, 0.25, 0.5 (none is near 0): the sd of their means is about 0.01, 0.008
    # and 0.005; 5 sd: false alarm below 1e-5. Under no effect p < 0.05 in 5 %: sd 0.5 %, 5 sd 2.5 %.
    draw = np.random.default_rng(0)
    found = [grid_shares(made(draw, (5, 4), 1, 0.5, 0.5**0.5), ["alpha"]) for _ in range(2000)]
    means = [np.mean([one.rows[i].variance for one in found]) for i in range(3)]
    assert means[0] == pytest.approx(1, abs=0.06)
    assert means[1] == pytest.approx(0.25, abs=0.06)  # negative in a few: the mean is above 0.25 by 0.01
    assert means[2] == pytest.approx(0.5, abs=0.03)
    null = [grid_shares(made(draw, (5, 4), 0, 0.5, 1), ["alpha"]).of("alpha").p or 0 for _ in range(2000)]
    assert np.mean(np.array(null) < 0.05) == pytest.approx(0.05, abs=0.025)
