"""The numbers that the page draws are the report's own, seed by seed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scipy import stats

from setsweep.sweeps.reports.explorer.numbers import numbers
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.study.study import point_key

DIGITS = 5e-5  # five significant ones are in the page


def _row(plain: dict[str, Any], arm: str, point: int = 0) -> dict[str, Any]:
    [row] = [each for each in plain["rows"] if (each["arm"], each["point"]) == (arm, point)]
    return row


def test_means_intervals_and_values_are_those_of_the_aggregates_in_percent(report: Report) -> None:
    plain = numbers(report)
    names = [metric["name"] for metric in plain["metrics"]]
    points = [point_key(point) for point in report.study.points()]
    seen = 0
    for each in report.aggregates:
        if each.stage != "confirm" or each.metric not in names:
            continue
        row, place = _row(plain, each.arm, points.index(point_key(each.point))), names.index(each.metric)
        scale = 100 if plain["metrics"][place]["more"] else 1
        mean, low, high = row["means"][place]
        assert mean == pytest.approx(scale * each.mean, rel=DIGITS)
        assert (low, high) == pytest.approx((scale * each.ci_low, scale * each.ci_high), rel=DIGITS)
        expected = [scale * each.values[seed] for seed in row["seeds"]]  # type: ignore[operator]
        assert row["values"][place] == pytest.approx(expected, rel=DIGITS)
        seen += 1
    assert seen > 10


def test_the_primary_metric_is_the_first_choice(report: Report) -> None:
    plain = numbers(report)
    assert plain["metrics"][plain["primary"]]["name"] == report.study.primary


def test_seeds_that_failed_are_named_and_have_no_value(wounded: Report) -> None:
    row = _row(numbers(wounded), "noised")
    assert row["failed"] == [101]
    assert all(values[row["seeds"].index(101)] is None for values in row["values"] if values)


def test_trials_of_a_search_are_not_among_the_confirmed(report: Report) -> None:
    confirmed = {(each.arm, point_key(each.point)) for each in report.chosen}
    assert len(numbers(report)["rows"]) == len(confirmed)


def test_the_page_has_the_quantiles_of_t_that_its_differences_need(report: Report) -> None:
    plain = numbers(report)
    most = max(each.n for each in report.aggregates if each.stage == "confirm")
    assert list(plain["t"]) == [str(n) for n in range(2, most + 1)]
    assert plain["t"][str(most)] == pytest.approx(stats.t.ppf(0.975, most - 1), rel=DIGITS)


def test_arms_have_the_colours_of_the_figures(report: Report) -> None:
    colours = {row["arm"]: row["colour"] for row in numbers(report)["rows"]}
    assert list(colours.values())[:2] == ["#0072B2", "#D55E00"]


def test_everything_is_plain_json(wounded: Report) -> None:
    json.dumps(numbers(wounded), allow_nan=False)
