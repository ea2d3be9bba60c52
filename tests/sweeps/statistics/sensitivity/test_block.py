from __future__ import annotations

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.block import complete_block, left_out, score_table


def kept(present: np.ndarray) -> list[list[int]]:
    return [one.tolist() for one in complete_block(present)]


def test_a_value_that_always_fails_goes_and_its_seeds_stay() -> None:
    present = np.ones((4, 5), dtype=bool)
    present[1] = False
    assert kept(present) == [[0, 2, 3], [0, 1, 2, 3, 4]]


def test_a_seed_that_is_missing_throughout_goes_and_the_values_stay() -> None:
    present = np.ones((4, 5), dtype=bool)
    present[:, 2] = False
    assert kept(present) == [[0, 1, 2, 3], [0, 1, 3, 4]]


def test_one_hole_costs_as_few_runs_as_can_be() -> None:
    # 9 values x 5 seeds: the value costs 5 runs, the seed 9; 4 x 5: the seed costs 4.
    wide, narrow = np.ones((9, 5), dtype=bool), np.ones((4, 5), dtype=bool)
    wide[3, 1] = narrow[3, 1] = False
    assert kept(wide) == [[0, 1, 2, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4]]
    assert kept(narrow) == [[0, 1, 2, 3], [0, 2, 3, 4]]


def test_the_block_has_no_hole_whatever_the_holes() -> None:
    draw = np.random.default_rng(0)
    for _ in range(200):
        present = draw.random((4, 3, 5)) < 0.8
        block = complete_block(present)
        assert present[np.ix_(*block)].all()


def test_what_is_left_out_is_named() -> None:
    present = np.ones((3, 4), dtype=bool)
    present[2] = False
    assert left_out(complete_block(present), present.shape) == ((2,), ())


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="scores must have 2 axes, got 1"):
        score_table([0.5], axes=2)
    with pytest.raises(ValueError, match="one score at least must be a number, got 1 without one"):
        score_table([[np.nan]], axes=2)
    with pytest.raises(ValueError, match="scores must be finite or NaN"):
        score_table([[np.inf, 1.0]], axes=2)
