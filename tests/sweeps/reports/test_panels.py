"""What all figures share."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.panels import (
    add_legend,
    add_title,
    file_name,
    is_number,
    look,
    mark_x,
    name_rows,
    names_width,
    panels,
    save,
    scale_x,
)


@pytest.fixture
def axis() -> Axes:
    return panels(1, columns=1, width=3, height=2)[1][0]


def test_sixty_three_series_look_different_and_their_colours_and_markers_come_again() -> None:
    looks = [look(index) for index in range(63)]
    assert all(first != second for first, second in itertools.combinations(looks, 2))
    assert look(63) == look(0)
    assert [look(index)["linestyle"] for index in (0, 1, 6, 7, 20)] == ["-", "-", "-", "--", ":"]


@pytest.mark.parametrize(
    ("count", "columns", "inches"), [(1, 2, (3 + 1, 2)), (2, 2, (6 + 1, 2)), (3, 2, (6 + 1, 4)), (7, 3, (9 + 1, 6))]
)
def test_panels_fill_the_rows_and_the_margin_is_beside_them(
    count: int, columns: int, inches: tuple[float, float]
) -> None:
    figure, axes = panels(count, columns=columns, width=3, height=2, margin=1)
    assert len(axes) == count
    assert tuple(figure.get_size_inches()) == inches


def test_a_legend_has_every_label_once() -> None:
    figure, axes = panels(2, columns=2, width=3, height=2)
    add_legend(figure, axes)
    assert figure.legends == []
    for panel in axes:
        for label in ("first", "second"):
            panel.plot([0, 1], [0, 1], label=label)
    add_legend(figure, axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["first", "second"]


def test_a_title_has_the_parts_that_are_there_in_as_many_lines_as_it_needs() -> None:
    figure = Figure(figsize=(2, 2))
    add_title(figure, ["name", "", "a point"])
    assert figure.get_suptitle() == "name, a point"
    add_title(figure, ["a name that is long", "and where it is of"])
    assert figure.get_suptitle() == "a name that is long, and\nwhere it is of"  # 24 letters fit into 2 inches


def test_rows_are_named_from_the_top_beside_the_first_column() -> None:
    figure, axes = panels(3, columns=2, width=3, height=2)
    names = ["first", "second"]
    name_rows(axes, 2, names)
    figure.draw_without_rendering()
    assert [[label.get_text() for label in panel.get_yticklabels() if label.get_visible()] for panel in axes] == [
        names,
        [],
        names,
    ]
    assert axes[0].get_ylim() == (1.5, -0.5)  # the axis points down, with half a row above the first and below the last
    assert names_width(["a", "b" * 24]) == 2.0


def test_numbers_lie_where_they_are(axis: Axes) -> None:
    assert scale_x(axis, [3, 1, 2.5]) == {3: 3.0, 1: 1.0, 2.5: 2.5}
    assert axis.get_xscale() == "linear"


@pytest.mark.parametrize(
    ("values", "log", "scale"),
    [
        ([1, 16], None, "log"),
        ([1, 15], None, "linear"),
        ([10, 100], None, "linear"),
        ([0.001, 0.02], None, "log"),
        ([0, 100], None, "linear"),
        ([-1, 100], None, "linear"),
        ([1, 2], True, "log"),
    ],
)
def test_numbers_that_spread_widely_are_on_a_logarithmic_axis(
    axis: Axes, values: list[float], log: bool | None, scale: str
) -> None:
    scale_x(axis, values, log=log)
    assert axis.get_xscale() == scale


def test_among_others_numbers_are_spaced_evenly_in_the_order_given(axis: Axes) -> None:
    assert scale_x(axis, [128, 32, "full", None]) == {128: 0.0, 32: 1.0, "full": 2.0, None: 3.0}
    mark_x(axis, [128, 32, "full", None])
    assert [label.get_text() for label in axis.get_xticklabels()] == ["128", "32", "full", "None"]


def test_the_few_values_of_a_grid_are_marked_whatever_the_scale(axis: Axes) -> None:
    values = [0.001, 0.01, 1]
    scale_x(axis, values)
    mark_x(axis, values)
    assert list(axis.get_xticks()) == values
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.001", "0.01", "1"]
    assert list(axis.get_xticks(minor=True)) == []


@pytest.mark.parametrize(("count", "marked"), [(8, True), (9, False)])
def test_many_values_are_not_marked_one_by_one(axis: Axes, count: int, marked: bool) -> None:
    values = [1.37 + number for number in range(count)]
    axis.plot(values, values)
    mark_x(axis, values)
    assert (list(axis.get_xticks()) == values) == marked


@pytest.mark.parametrize(
    ("value", "expected"), [(1, True), (0.5, True), (math.inf, True), (True, False), ("1", False), (None, False)]
)
def test_true_and_false_are_no_numbers(value: Any, expected: bool) -> None:
    assert is_number(value) == expected


def test_equal_figures_are_equal_files_without_the_version_of_what_drew_them(tmp_path: Path) -> None:
    files = [save(panels(1, columns=1, width=1, height=1)[0], tmp_path / f"{name}.png") for name in "ab"]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"Matplotlib" not in files[0].read_bytes()


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ({}, "metrics-3.png"),
        ({"data.label_noise": 0.2, "training.batch_size": "full"}, "metrics-3-label_noise-0.2-batch_size-full.png"),
        ({"data.name": "my.data:two moons/é"}, "metrics-3-name-my.data-two-moons.png"),
        ({"data.folder": "x" * 100}, f"metrics-3-folder-{'x' * 53}.png"),
    ],
)
def test_a_file_is_named_after_its_point_of_the_grid(point: dict[str, Any], name: str) -> None:
    assert file_name("metrics", 3, point) == name
