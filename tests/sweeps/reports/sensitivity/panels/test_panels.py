"""Panels of sensitivity: where things lie in them, by the numbers that matplotlib was given."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.sensitivity.dimension import Dimension
from setsweep.sweeps.reports.sensitivity.found import Findings, look_at
from setsweep.sweeps.reports.sensitivity.panels.axis import lay_out, mark
from setsweep.sweeps.reports.sensitivity.panels.curve import draw_curve
from setsweep.sweeps.reports.sensitivity.panels.heat import draw_heat_map
from setsweep.sweeps.reports.sensitivity.panels.parallel import draw_parallel
from setsweep.sweeps.reports.sensitivity.panels.scatter import draw_failures, draw_slice
from setsweep.sweeps.reports.sensitivity.panels.share import draw_shares
from setsweep.sweeps.reports.sensitivity.panels.tuning import draw_tuning
from setsweep.sweeps.reports.sensitivity.sensitivity import Tuning
from setsweep.sweeps.statistics.sensitivity.failures import FailureRate
from setsweep.sweeps.statistics.sensitivity.scale import Scale
from setsweep.sweeps.statistics.sensitivity.tuning_curve import tuning_curve

NAN = math.nan
STYLE = {"color": "#0072B2", "marker": "o"}
HILL = [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.60, 0.62, 0.62]]


@pytest.fixture
def axis() -> Axes:
    return Figure().add_subplot()


def dimension(tried_at: Any, scale: Scale, default: Any = None) -> Dimension:
    return Dimension(name="x", values=tried_at, scale=scale, default=default, chosen=None)


def look(scores: Any, tried: Any, **fields: Any) -> Findings:
    return look_at(tried(scores, **fields), confidence=0.95)


@pytest.mark.parametrize(
    ("kind", "default", "marked"),
    [
        ("log", 0, False),  # nowhere on a logarithmic axis
        ("log", 5, True),
        ("linear", 0, True),
        ("linear", "full", False),
        ("linear", None, False),
    ],
)
def test_a_default_is_marked_where_it_has_a_place(axis: Axes, kind: Any, default: Any, marked: bool) -> None:
    own = dimension((1, 10), Scale(kind=kind, low=1, high=10), default)
    mark(axis, own, lay_out(axis, own))
    assert len(axis.lines) == marked
    assert axis.get_xscale() == kind


def test_names_are_spaced_evenly_and_more_than_nine_numbers_are_not_marked_one_by_one(axis: Axes) -> None:
    assert lay_out(axis, dimension(("b",), Scale(kind="order", values=("a", "b")))) == {"a": 0.0, "b": 1.0}
    for count, marked in ((9, True), (10, False)):
        values = tuple(1.37 * number for number in range(1, count + 1))
        fresh = Figure().add_subplot()
        lay_out(fresh, dimension(values, Scale(kind="linear", low=1, high=20)))
        assert (list(fresh.get_xticks()) == list(values)) is marked


def test_a_curve_has_room_for_its_dots_and_not_for_all_of_its_bands(axis: Axes, tried: Any) -> None:
    # Dots from 50 to 73 %: 0.6 of 23 points is free beyond them. The band of three values and seeds is wider.
    draw_curve(axis, look(HILL, tried), 0, STYLE, None)
    assert axis.get_ylim() == pytest.approx((50 - 13.8, 73 + 13.8))


def test_a_curve_near_100_percent_ends_just_above_it(axis: Axes, tried: Any) -> None:
    draw_curve(axis, look([[0.98, 0.99], [0.985, 0.99], [0.99, 1.0]], tried), 0, STYLE, None)
    assert axis.get_ylim()[1] == 101


def test_a_cell_of_which_a_run_is_missing_is_blank_and_the_best_has_a_star(axis: Axes, tried: Any) -> None:
    scores = [[0.50, 0.51, 0.52], [0.70, 0.71, 0.72], [NAN, 0.61, 0.62], [0.60, 0.61, 0.63]]
    draw_heat_map(axis, look(scores, tried, alphas=(1.0, 10.0), sizes=(16, 64)))
    assert {text.get_position(): text.get_text() for text in axis.texts} == {
        (0, 0): "51.0",
        (1, 0): "71.0",
        (1, 1): "61.3",
    }
    (star,) = axis.lines
    assert [round(float(star.get_xdata()[0])), round(float(star.get_ydata()[0]))] == [1, 0]  # type: ignore[index]
    # viridis is dark where values are low: the text of 51.0 is white, and from 0.4 of the range on it is black.
    assert [text.get_color() for text in axis.texts] == ["white", "black", "black"]


def test_a_slice_has_a_dot_a_configuration_with_a_score_and_a_cross_where_a_run_failed(axis: Axes, tried: Any) -> None:
    draw_slice(axis, look([[0.5, NAN], [0.7, 0.8], [NAN, NAN]], tried, designed=False), 0, STYLE)
    dots, crosses = axis.lines[:2]
    assert (list(dots.get_xdata()), list(dots.get_ydata())) == ([0.1, 1.0], [50.0, pytest.approx(75.0)])
    assert list(crosses.get_xdata()) == [0.1, 10.0]


@pytest.mark.parametrize(("kind", "middle"), [("log", 1.0), ("linear", 5.05)])
def test_a_failure_rate_stands_in_the_middle_of_its_stretch_as_it_is_drawn(
    axis: Axes, tried: Any, kind: Any, middle: float
) -> None:
    # From 0.1 to 10: sqrt(0.1 x 10) on a logarithmic axis, (0.1 + 10) / 2 on a linear one.
    found = look(HILL, tried)
    own = replace(found.along[0].dimension, scale=Scale(kind=kind, low=0.1, high=10))
    rate = FailureRate(first=0, last=2, failed=3, runs=9, rate=1 / 3, low=0.07, high=0.7)
    found = replace(found, along=(replace(found.along[0], dimension=own, rates=(rate,)),))
    draw_failures(axis, found, 0, STYLE)
    stretch, interval, dot = axis.lines
    assert list(stretch.get_xdata()) == [0.1, 10.0]
    assert list(interval.get_xdata()) == pytest.approx([middle, middle])
    assert list(interval.get_ydata()) == pytest.approx([7, 70])
    assert (list(dot.get_xdata()), list(dot.get_ydata())) == (pytest.approx([middle]), pytest.approx([100 / 3]))


def test_bars_of_seed_and_rest_are_grey_and_add_up_with_the_others(axis: Axes, tried: Any) -> None:
    draw_shares(axis, look(HILL, tried), STYLE)
    colours = [bar.get_facecolor() for bar in axis.patches]
    assert colours[1] == colours[2] != colours[0]
    assert sum(bar.get_width() for bar in axis.patches) == pytest.approx(100)  # type: ignore[attr-defined]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["alpha", "seed", "configuration x seed"]


def test_the_best_line_of_parallel_coordinates_is_drawn_last_and_ends_at_the_top(axis: Axes, tried: Any) -> None:
    draw_parallel(axis, look(HILL, tried, designed=False))
    lines = [list(line.get_ydata()) for line in axis.lines[:3]]
    # Mean scores 51, 71.3 and 61.3 %, as shares of what they span; alphas at 0, 1/2 and 1 of two decades.
    assert [line[0] for line in lines] == pytest.approx([0, 1, 0.5])
    assert [line[1] for line in lines] == pytest.approx([0, (1.84 - 1.53) / (2.14 - 1.53), 1])


def test_beyond_the_last_k_with_an_upper_end_a_tuning_curve_has_a_line(axis: Axes) -> None:
    scores = [0.5 + number / 100 for number in range(40)]
    for scored, finite in ((scores, 4), (scores[:3], 0)):
        curve = tuning_curve(scored, sampler="random", confidence=0.95)
        fresh = Figure().add_subplot()
        draw_tuning(fresh, Tuning(arm="avgk", point={}, curve=curve, reason=""), STYLE)
        assert list(fresh.lines[1].get_xdata()) == [finite + 0.5] * 2
