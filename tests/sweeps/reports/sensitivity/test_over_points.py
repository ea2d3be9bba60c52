"""The table of what a choice costs elsewhere, and what it comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.reports.sensitivity.over_points import everywhere_blocks
from setsweep.sweeps.reports.sensitivity.places import OverPoints
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.statistics.sensitivity.everywhere import Everywhere, Regret, regret_everywhere

SEEDS = np.array([0.0, 0.01, 0.02])


@pytest.fixture
def told(tried: Any, nothing: Sensitivity) -> Any:
    """Calls give the cells of the table, and the sentence, of three alphas' mean scores at two points."""

    def call(means: Any, everywhere: Everywhere | None = None) -> tuple[list[list[str]], str]:
        draw = np.random.default_rng(0)
        scores = np.array(means)[..., None] + SEEDS + 1e-4 * draw.normal(size=(2, 3, 3))
        found = everywhere or regret_everywhere(scores, confidence=0.95)
        each = OverPoints(tried=tuple(map(tried, scores)), names=("x = 0", "x = 1"), everywhere=found)
        table, said = everywhere_blocks(replace(nothing, over_points=(each,)))
        assert isinstance(table, Table)
        assert isinstance(said, str)
        return [[cell.text for cell in row] for row in table.rows], said

    return call


def test_a_row_is_what_was_chosen_there_and_a_column_where_it_is_used(told: Any) -> None:
    rows, said = told([[0.9, 0.8, 0.85], [0.8, 0.9, 0.87]])
    assert [row[:2] for row in rows] == [["x = 0", "alpha = 0.1"], ["x = 1", "alpha = 1"]]
    # The best at either point loses 10 points at the other, give or take the 1e-4 of each score.
    assert [row[2 + place].split()[0] for place, row in enumerate(rows)] == ["0.00", "0.00"]
    assert all(abs(float(row[3 - place].split()[0]) - 10) < 0.05 for place, row in enumerate(rows))
    # alpha 10 loses 5 and 3 points, less than 10 with either of the others.
    assert said.startswith("avgk: no value serves everywhere; alpha = 10 loses least, 5.0")


def test_a_value_that_is_best_everywhere_serves_everywhere(told: Any) -> None:
    _, said = told([[0.7, 0.9, 0.8], [0.6, 0.8, 0.7]])
    assert said == "avgk: everywhere as good as the best, as far as can be told: alpha = 1."


def test_what_has_no_interval_stands_alone_and_what_has_no_run_is_a_dash(told: Any) -> None:
    alone = Regret(mean=0.02, low=None, high=None)
    whole = Regret(mean=0.01, low=0.005, high=0.015)
    found = Everywhere(
        chosen=(0, None), regrets=((alone, None), (whole, None), (None, None)), serving=(), compromise=None
    )
    rows, said = told([[0.9, 0.8, 0.85], [0.8, 0.9, 0.87]], found)
    assert rows == [["x = 0", "alpha = 0.1", "2.00", "-"], ["x = 1", "-", "-", "-"]]
    assert said == "avgk: no value has runs everywhere."
    rows, _ = told([[0.9, 0.8, 0.85], [0.8, 0.9, 0.87]], replace(found, chosen=(1, None)))
    assert rows[0][2] == "1.00 (0.50 to 1.50)"
