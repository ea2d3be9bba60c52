"""The curve of a hyperparameter as a table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.curve_table import curve_table, plateau_sentences
from setsweep.sweeps.reports.sensitivity.found import look_at

NAN = math.nan


def cells(found: Any, number: int = 0) -> list[list[str]]:
    return [[cell.text for cell in row] for row in curve_table(found, found.along[number], "95 %").rows]


def test_a_mean_stands_with_half_the_width_of_its_own_interval(tried: Any) -> None:
    # Scores 0.50 and 0.52: mean 0.51, s = 0.01 sqrt(2), t(0.975, 1) = 12.706: 12.706 x 0.01 = 12.71 points.
    found = look_at(tried([[0.50, 0.52], [0.70, 0.73], [0.60, 0.62]]), confidence=0.95)
    assert cells(found)[0][:3] == ["0.1", "51.00 ± 12.71", "2"]


def test_an_interval_that_is_cut_at_100_percent_is_given_by_its_ends(tried: Any) -> None:
    # 0.97 and 0.99: 98 +- 12.71 would end at 110.71.
    found = look_at(tried([[0.97, 0.99], [0.70, 0.73], [0.01, 0.03]]), confidence=0.95)
    rows = cells(found)
    assert rows[0][1] == "98.00 (85.29 to 100.00)"
    assert rows[2][1] == "2.00 (0.00 to 14.71)"


def test_of_one_seed_there_is_a_mean_and_no_interval(tried: Any) -> None:
    found = look_at(tried([[0.5], [0.7], [0.6]]), confidence=0.95)
    assert cells(found)[1] == ["1", "70.00", "1", "-", "-", "default"]


def test_marks_say_what_is_best_as_good_default_chosen_and_failed(tried: Any) -> None:
    plain = tried(
        [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.70, 0.73, 0.70], [0.8, 0.8, NAN]], alphas=(1.0, 2.0, 3.0, 4.0)
    )
    (alpha,) = plain.dimensions
    found = look_at(replace(plain, dimensions=(replace(alpha, chosen=3.0),)), confidence=0.95)
    marks = [row[-1] for row in cells(found)]
    assert marks == ["default", "best", "not told from the best, chosen", "1 of 3 runs failed"]
    strong = [row[0].text for row in curve_table(found, found.along[0], "95 %").rows if row[0].strong]
    assert strong == ["2"]


def test_runs_to_come_are_not_counted_among_those_that_failed(tried: Any) -> None:
    scores = [[0.5, 0.52, 0.51], [0.7, 0.73, NAN], [0.6, NAN, NAN]]
    found = look_at(tried(scores, failed=[[0, 0, 0], [0, 0, NAN], [0, 1, NAN]]), confidence=0.95)
    assert [row[-1] for row in cells(found)][2] == "1 of 2 runs failed"


def test_the_title_says_what_a_curve_is_a_mean_over(tried: Any) -> None:
    scores = [[0.50, 0.51], [0.70, 0.71], [0.60, 0.63], [0.72, 0.71]]
    found = look_at(tried(scores, alphas=(1.0, 10.0), sizes=(16, 64), point={"data.label_noise": 0.2}), confidence=0.95)
    table = curve_table(found, found.along[1], "95 %")
    assert table.title == "avgk, data.label_noise = 0.2: training.batch_size, mean over alpha"
    assert table.header[:4] == ("training.batch_size", "avg-2 (%)", "n", "whole curve (95 %)")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (
            [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.60, 0.62, 0.62]],
            ["avgk: alpha 1 is told from its neighbours (95 %)"],
        ),
        ([[0.5], [0.7], [0.6]], ["avgk: no plateau of alpha: "]),
    ],
)
def test_there_is_a_plateau_or_the_reason_why_there_is_none(tried: Any, scores: Any, said: list[str]) -> None:
    found = look_at(tried(scores), confidence=0.95)
    told = [*plateau_sentences(found, found.along[0])]
    assert [text.startswith(start) for text, start in zip(told, said, strict=True)] == [True]


def test_of_a_search_neither_is_said(tried: Any) -> None:
    found = look_at(tried([[0.5, 0.6], [0.7, 0.71], [0.6, 0.61]], designed=False), confidence=0.95)
    assert [*plateau_sentences(found, found.along[0])] == []
