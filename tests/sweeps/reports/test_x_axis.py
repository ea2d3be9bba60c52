"""The x axis of a figure: where values lie on it, and that its labels can be read."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from matplotlib.axes import Axes

from setsweep.sweeps.reports.panels import panels
from setsweep.sweeps.reports.x_axis import MARKED, is_number, lay_out, natural_scale


@pytest.fixture
def axis() -> Axes:
    return panels(1, columns=1, width=3.8, height=3)[1][0]


def _draw(axis: Axes, values: list[Any], *, marked: bool = True, log: bool | None = None) -> list[str]:
    """The labels of an axis on which something is drawn at each value."""
    places = lay_out(axis, values, natural_scale(values, log=log), marked=marked)
    axis.plot([places[value] for value in values], range(len(values)))
    return _labels(axis)


def _labels(axis: Axes) -> list[str]:
    axis.figure.draw_without_rendering()  # type: ignore[union-attr]
    return [label.get_text() for label in axis.get_xticklabels() if label.get_text()]


def test_numbers_lie_where_they_are(axis: Axes) -> None:
    assert lay_out(axis, [3, 1, 2.5], natural_scale([3, 1, 2.5])) == {3: 3.0, 1: 1.0, 2.5: 2.5}


@pytest.mark.parametrize(
    ("values", "log", "scale"),
    [
        ([1, 16], None, "log"),
        ([1, 15], None, "linear"),
        ([10, 100], None, "linear"),
        ([0.001, 0.02], None, "log"),
        ([0, 100], None, "linear"),
        ([0, 0.01, 10], None, "symlog"),
        ([0, 1, 2, 3], None, "linear"),
        ([0, 1, 3], True, "symlog"),
        ([-1, 1, 100], None, "linear"),
        ([-1, 1, 100], True, "linear"),
        ([1, 2], True, "log"),
        ([1, 100], False, "linear"),
        ([5], None, "linear"),
        ([5], True, "linear"),
        ([0], None, "linear"),
    ],
)
def test_numbers_that_spread_widely_are_on_a_logarithmic_axis_which_has_a_place_for_0(
    axis: Axes, values: list[float], log: bool | None, scale: str
) -> None:
    _draw(axis, values, log=log)
    assert axis.get_xscale() == scale
    low, high = axis.get_xlim()
    assert all(low <= value <= high for value in values)


def test_among_others_numbers_are_spaced_evenly_in_the_order_given(axis: Axes) -> None:
    values = [128, 32, "full", None]
    assert lay_out(axis, values, natural_scale(values)) == {128: 0.0, 32: 1.0, "full": 2.0, None: 3.0}
    assert _labels(axis) == ["128", "32", "full", "null"]
    assert lay_out(axis, ["full"], natural_scale(["full"]))["full"] == 0.0


def test_names_that_need_more_than_the_axis_are_turned(axis: Axes) -> None:
    for names, turned in ((["sgd", "adam"], 0), (["a_loss_with_a_name", "another_with_a_name", "and_one_more"], 25)):
        _draw(axis, names)
        assert {label.get_rotation() for label in axis.get_xticklabels()} == {turned}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.001, 0.01, 1], ["0.001", "0.01", "1"]),
        ([0.0, 0.0001, 0.001, 0.01, 0.1], ["0", "0.0001", "0.001", "0.01", "0.1"]),
        ([1, 2, 3], ["1", "2", "3"]),
        ([32, 64, 4096], ["32", "64", "4096"]),
        ([0.5, 0.51, 0.52, 100.0], ["0.5", "100"]),
    ],
)
def test_few_values_are_marked_and_named_as_far_as_there_is_room(
    axis: Axes, values: list[float], labels: list[str]
) -> None:
    assert _draw(axis, values) == labels
    assert list(axis.get_xticks()) == values
    assert list(axis.get_xticks(minor=True)) == []


@pytest.mark.parametrize(("count", "marked"), [(MARKED, True), (MARKED + 1, False)])
def test_many_values_are_not_marked_one_by_one(axis: Axes, count: int, marked: bool) -> None:
    values = [1.37 + number for number in range(count)]
    _draw(axis, values)
    assert (list(axis.get_xticks()) == values) == marked


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.12, 7.9, ["0.2", "0.5", "1", "2", "5"]),
        (0.003, 0.3, ["0.01", "0.02", "0.05", "0.1", "0.2"]),
        (0.01, 10, ["0.01", "0.1", "1", "10"]),
        (1e-9, 1, ["1e-09", "1e-07", "1e-05", "0.001", "0.1"]),
        (0.55, 0.9, ["0.55", "0.9"]),
        (1, 1.0001, ["1", "1"]),
    ],
)
def test_what_was_drawn_from_a_range_is_on_an_axis_of_round_values(
    axis: Axes, low: float, high: float, labels: list[str]
) -> None:
    values = [low, math.sqrt(low * high), high]
    assert _draw(axis, values, marked=False, log=True) == labels


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("zero", [[], [0.0]])
def test_labels_never_overlap(marked: bool, zero: list[float]) -> None:
    """Ranges of every width on logarithmic axes with and without a 0, drawn in panels as reports have them."""
    widths = (0.1, 0.5, 1, 2, 3, 4.5)
    figure, axes = panels(len(widths), columns=2, width=3.8, height=3, margin=1)
    for axis, decades in zip(axes, widths, strict=True):
        values = [*zero, *(10 ** (-1.1 + decades * place) for place in (0, 0.03, 0.2, 0.45, 0.5, 0.9, 1))]
        places = lay_out(axis, values, natural_scale(values, log=True), marked=marked)
        axis.plot([places[value] for value in values], range(len(values)))
        axis.set_ylabel("test average-2 accuracy (%)")
    figure.draw_without_rendering()
    for axis in axes:
        boxes = [label.get_window_extent() for label in axis.get_xticklabels() if label.get_text()]
        assert len(boxes) >= 2
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes)), axis.get_xticks()


@pytest.mark.parametrize(
    ("value", "expected"), [(1, True), (0.5, True), (math.inf, True), (True, False), ("1", False), (None, False)]
)
def test_true_and_false_are_no_numbers(value: Any, expected: bool) -> None:
    assert is_number(value) == expected
