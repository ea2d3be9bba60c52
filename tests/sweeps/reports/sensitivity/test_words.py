"""Numbers and names as all parts of a sensitivity report have them."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.words import between, means_over, p_text, percent, place, points, row


@pytest.mark.parametrize(("confidence", "text"), [(0.95, "95 %"), (0.999, "99.9 %"), (0.9, "90 %")])
def test_a_confidence_is_in_percent_with_the_digits_that_it_needs(confidence: float, text: str) -> None:
    assert percent(confidence) == text


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [
        (0.93528, False, "93.53"),
        (0.005, True, "+0.50"),
        (-0.005, True, "-0.50"),
        (None, False, "-"),
        (0.0, False, "0.00"),
    ],
)
def test_a_share_is_in_points_with_two_decimals(value: float | None, signed: bool, text: str) -> None:
    assert points(value, signed=signed) == text


def test_an_interval_without_one_of_its_ends_is_none() -> None:
    assert between(0.512, 0.528) == "51.20 to 52.80"
    assert (between(None, 0.5), between(0.5, None)) == ("-", "-")


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0316, "p = 0.032"), (0.001, "p = 0.001"), (0.00099, "p < 0.001"), (1.0, "p = 1.000"), (None, "p undefined")],
)
def test_a_p_value_below_a_thousandth_is_not_spelled_out(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_a_place_is_the_arm_and_the_point_where_there_is_a_grid(tried: Any) -> None:
    scores = [[0.5], [0.6], [0.7]]
    assert place(tried(scores)) == "avgk"
    assert place(tried(scores, point={"data.label_noise": 0.2})) == "avgk, data.label_noise = 0.2"


def test_values_that_a_mean_leaves_out_are_seen_as_those_that_it_has_are_named(tried: Any) -> None:
    own = tried([[0.5]] * 6, alphas=(1.0, 10.0), sizes=(16, 64, 256))
    assert means_over(own, {}) == ""
    assert means_over(own, {"training.batch_size": (16, 64, 256)}) == ", mean over training.batch_size"
    both = {"training.batch_size": (16, 64), "alpha": (1.0, 10.0)}
    assert means_over(own, both) == ", mean over training.batch_size 16, 64 and alpha"


def test_the_first_cell_of_a_row_alone_may_stand_out() -> None:
    assert [(cell.text, cell.strong) for cell in row("a", "b", strong=True)] == [("a", True), ("b", False)]
    assert not any(cell.strong for cell in row("a", "b"))
