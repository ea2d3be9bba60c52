"""Shares of variance as a table, and whether they mean anything."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.found import Findings, look_at
from setsweep.sweeps.reports.sensitivity.share_table import share_blocks
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.statistics.sensitivity.shares.searched import Estimate, SearchShare, SearchShares
from setsweep.sweeps.statistics.sensitivity.shares.top import TopShares

NAN = math.nan


def texts(table: Any) -> list[list[str]]:
    assert isinstance(table, Table)
    return [[cell.text for cell in row] for row in table.rows]


def share(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high)


@pytest.fixture
def scattered(tried: Any) -> Findings:
    """What a search of two hyperparameters came to, as numbers that are easy to follow."""
    alpha = SearchShare(name="alpha", first=share(0.5, 0.4, 0.6), total=share(0.64, 0.5, 0.7), deviation=0.016)
    size = SearchShare(name="size", first=share(-0.1, 0, 0.05), total=share(0.02, 0, 0.1), deviation=0.0)
    dummy = SearchShare(name="dummy", first=share(0, 0, 0.1), total=share(0.05, 0, 0.2), deviation=0.0)
    shares = SearchShares(
        rows=(alpha, size),
        dummy=dummy,
        configurations=share(0.64, 0.6, 0.7),
        seed=None,
        rest=None,
        variance=0.0004,
        p=0.0316,
        points=40,
        left_out=(),
        confidence=0.95,
    )
    return replace(look_at(tried([[0.5], [0.6], [0.7]], designed=False), confidence=0.95), shares=shares)


def test_components_of_a_grid_worked_by_hand(tried: Any) -> None:
    # y = 0.6 -+ 0.1 by alpha -+ 0.01 by seed, and nothing else but +-0.001 of each configuration x seed:
    # SS_alpha = 4 x 0.01 = 0.04 on 1 degree, SS_seed = 4 x 1e-4, rest 4 x 1e-6 on 1 degree. Components: alpha
    # (0.04 - 4e-6) / 4 = 0.009999, seed (4e-4 - 4e-6) / 2 = 0.000198, rest 4e-6; sum 0.010201: 98 %, 2 %, 0 %.
    scores = [[0.491, 0.509], [0.689, 0.711]]
    (table,) = share_blocks(look_at(tried(scores, alphas=(1.0, 10.0)), confidence=0.95))
    assert [row[:3] for row in texts(table)] == [
        ["alpha", "98 %", "10.00"],
        ["seed", "2 %", "1.41"],
        ["configuration x seed", "0 %", "0.20"],
    ]


def test_values_and_seeds_that_are_left_out_are_named(tried: Any) -> None:
    scores = [[0.50, 0.51, 0.52], [0.70, 0.72, 0.71], [NAN, NAN, NAN]]
    (table,) = share_blocks(look_at(tried(scores), confidence=0.95))
    assert isinstance(table, Table)
    assert table.title == "avgk: what makes scores differ, without alpha 10"
    scores = [[0.50, 0.51, NAN], [0.70, 0.72, NAN], [0.6, 0.61, NAN]]
    (table,) = share_blocks(look_at(tried(scores, seeds=(7, 8, 9)), confidence=0.95))
    assert isinstance(table, Table)
    assert table.title.endswith(", without seed 9")


def test_where_there_are_no_shares_the_reason_is_told(tried: Any) -> None:
    (said,) = share_blocks(look_at(tried([[0.5], [0.6], [0.7]]), confidence=0.95))
    assert isinstance(said, str)
    assert said.startswith("avgk: no shares of variance: every factor must have 2 levels and 2 seeds")


def test_shares_of_a_search_stand_beside_the_dummy_and_what_is_above_it_stands_out(scattered: Findings) -> None:
    table, said = share_blocks(scattered)
    # Of a variance of (2 points)^2: all of these sqrt(0.64) x 2 = 1.6 points, a run's noise sqrt(0.36) x 2 = 1.2.
    assert texts(table) == [
        ["alpha", "50 % (40 to 60)", "64 % (50 to 70)", "1.60"],
        ["size", "0 % (0 to 5)", "2 % (0 to 10)", "0.00"],
        ["dummy, which does nothing", "0 % (0 to 10)", "5 % (0 to 20)", "0.00"],
        ["all of these", "64 % (60 to 70)", "-", "1.60"],
        ["a single run's noise", "36 %", "-", "1.20"],
    ]
    assert isinstance(table, Table)
    assert [row[0].text for row in table.rows if row[0].strong] == ["alpha"]
    assert said == "avgk: told from a hyperparameter that does nothing: alpha (test of any effect: p = 0.032)."


def test_with_several_seeds_the_noise_is_parted_into_seed_and_rest(scattered: Findings) -> None:
    assert isinstance(scattered.shares, SearchShares)
    table, _ = share_blocks(replace(scattered, shares=replace(scattered.shares, seed=0.09, rest=0.25)))
    assert texts(table)[-2:] == [["seed", "9 %", "-", "0.60"], ["configuration x seed", "25 %", "-", "1.00"]]


def test_a_search_that_is_noise_says_that_no_share_means_anything(scattered: Findings) -> None:
    assert isinstance(scattered.shares, SearchShares)
    _, said = share_blocks(replace(scattered, shares=replace(scattered.shares, p=0.2)))
    assert (
        said
        == "avgk: nothing: the configurations can't be told from noise (p = 0.200), so that no share means anything."
    )


def test_of_the_best_trials_shares_above_the_dummys_stand_out(scattered: Findings) -> None:
    top = TopShares(names=("alpha", "size"), shares=(0.31, 0.02), dummy=0.05, trials=1200, top=0.1)
    *_, table = share_blocks(replace(scattered, top=top))
    assert texts(table) == [["alpha", "31.0 %"], ["size", "2.0 %"], ["dummy, which does nothing", "up to 5.0 %"]]
    assert isinstance(table, Table)
    assert [row[0].strong for row in table.rows] == [True, False, False]
    assert table.title == "avgk: what decides whether one of 1200 trials is among the best 10 %"
