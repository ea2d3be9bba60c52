"""What all figures share."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from setsweep.sweeps.reports.panels import (
    add_legend,
    add_title,
    description,
    file_name,
    look,
    name_rows,
    names_width,
    panel_rows,
    panels,
    save,
)


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


def test_equal_figures_are_equal_files_without_the_version_of_what_drew_them(tmp_path: Path) -> None:
    files = [save(panels(1, columns=1, width=1, height=1)[0], tmp_path / f"{name}.png") for name in "ab"]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"Matplotlib" not in files[0].read_bytes()


def test_a_file_tells_what_it_shows_in_one_line_and_one_that_does_not_is_known_by_its_name(tmp_path: Path) -> None:
    figure, _ = panels(1, columns=1, width=2, height=1)
    add_title(figure, ["differences", "data.shift = 90 and more words than fit", "Δ"])
    shown = description(save(figure, tmp_path / "a.png"))
    assert shown == "differences, data.shift = 90 and more words than fit, Δ"
    untitled = save(panels(1, columns=1, width=1, height=1)[0], tmp_path / "metrics-1-name-circle.png")
    assert description(untitled) == "metrics 1 name circle"


def test_colours_of_lines_and_bands_are_kept_to_the_eye(tmp_path: Path) -> None:
    """A figure is written in 256 colours: none of these may be off by more than 8 of 255."""
    figure, (axis,) = panels(1, columns=1, width=4, height=3)
    for index in range(7):
        axis.fill_between([0, 1], index, index + 0.7, color=look(index)["color"], alpha=0.2, linewidth=0)
        axis.plot([0, 1], [index, index + 0.7], color=look(index)["color"], linewidth=4)
    with Image.open(save(figure, tmp_path / "a.png")) as image:
        found = np.asarray(image.convert("RGB"), dtype=int).reshape(-1, 3)
    for index in range(7):
        wanted = np.array([int(look(index)["color"][at : at + 2], 16) for at in (1, 3, 5)])
        assert np.abs(found - wanted).max(axis=1).min() <= 8
        assert np.abs(found - (0.2 * wanted + 0.8 * 255)).max(axis=1).min() <= 8


def test_rows_may_have_different_numbers_of_panels() -> None:
    figure, rows = panel_rows([1, 3, 2], width=3, height=2, margin=1)
    assert [len(row) for row in rows] == [1, 3, 2]
    assert tuple(figure.get_size_inches()) == (10, 6)
    places = [[axis.get_position().x0 for axis in row] for row in rows]
    assert places[0][0] == places[1][0] == places[2][0]
    assert places[1][1] == places[2][1]


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
