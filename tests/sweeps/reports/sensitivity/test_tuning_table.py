"""Tuning curves as tables, and why there are none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity, Tuning
from setsweep.sweeps.reports.sensitivity.tuning_table import tuning_blocks
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.statistics.sensitivity.tuning_curve import tuning_curve


def tuning(scores: Any, **point: Any) -> Tuning:
    curve = tuning_curve(scores, sampler="random", confidence=0.95)
    return Tuning(arm="avgk", point=point, curve=curve, reason="")


def blocks(nothing: Sensitivity, *tunings: Tuning) -> Any:
    return [*tuning_blocks(replace(nothing, tunings=tunings))]


def test_some_numbers_of_trials_are_shown_up_to_those_there_are(nothing: Sensitivity) -> None:
    table, _ = blocks(nothing, tuning(np.linspace(0.5, 0.9, 40)))
    assert isinstance(table, Table)
    assert [row[0].text for row in table.rows] == ["1", "2", "3", "5", "8", "12", "20", "30"]
    assert table.title == "avgk: tuning curve of 40 random trials"


def test_where_the_trials_give_no_upper_end_the_lower_one_stands_alone(nothing: Sensitivity) -> None:
    # Of 40 trials the band of the best of k has an upper end for k up to about 40 / 9 = 4.4.
    table, said = blocks(nothing, tuning(np.linspace(0.5, 0.9, 40)))
    assert isinstance(table, Table)
    bands = {row[0].text: row[2].text for row in table.rows}
    assert [" to " in bands[k] for k in ("1", "2", "3", "5", "8")] == [True, True, True, False, False]
    assert bands["5"].endswith(" and more")
    assert said.startswith("avgk: the band has an upper end up to k = 4; for k = 5 that takes ")
    assert 40 < int(said.split()[-2]) < 50  # 9 trials for each k, or so


def test_trials_that_failed_are_counted_in_the_title(nothing: Sensitivity) -> None:
    table, _ = blocks(nothing, tuning([0.5, float("nan"), 0.7, 0.8], x=1))
    assert isinstance(table, Table)
    assert table.title == "avgk, x = 1: tuning curve of 4 random trials, of which 1 failed and count as 0"


def test_a_handful_of_trials_bounds_no_best_from_above(nothing: Sensitivity) -> None:
    _, said = blocks(nothing, tuning([0.5, 0.6, 0.7]))
    assert said.startswith("avgk: the band has an upper end for no k; for k = 1 that takes ")


def test_a_reason_is_told_once_for_all_that_share_it(nothing: Sensitivity) -> None:
    def missing(arm: str, reason: str) -> Tuning:
        return Tuning(arm=arm, point={}, curve=None, reason=reason)

    said = blocks(nothing, missing("avgk", "it learns."), missing("focal", "too few."), missing("ldam", "it learns."))
    assert said == ["No tuning curve of avgk; ldam: it learns.", "No tuning curve of focal: too few."]
