"""Accuracy by class against training images: classes in bins, a panel for each kind of set."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports import per_class_figure
from setsweep.sweeps.reports.per_class_figure import bins_of, draw_per_class
from setsweep.sweeps.study.study import Study


def test_bins_hold_about_as_many_classes_and_never_part_equal_counts() -> None:
    assert bins_of([5, 1, 2, 9, 7, 3, 8, 4]) == [[1, 2, 5, 7], [0, 4, 6, 3]]
    assert bins_of([500] * 100) == [list(range(100))]
    assert bins_of([3]) == [[0]]
    counts = np.random.default_rng(0).integers(1, 30, 200).tolist()
    found = bins_of(counts)
    assert sorted(position for each in found for position in each) == list(range(200))
    assert len(found) <= per_class_figure.BINS
    for one, other in itertools.pairwise(found):
        assert max(counts[position] for position in one) < min(counts[position] for position in other)


@pytest.fixture
def rows(study: Study) -> pd.DataFrame:
    """Every arm, two seeds and 12 classes with 10 to 1200 training images; one without a test image."""
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "arm": arm,
            "stage": "confirm",
            "seed": seed,
            "class": label,
            "train": 10 * (label + 1) ** 2,
            "accuracy": np.nan if label == 3 else min(1.0, 0.3 + 0.05 * label + 0.1 * draw.random()),
            "sets": sets,
            "k": 2,
            "point.data.label_noise": noise,
        }
        for arm in study.arms
        for seed in (0, 1)
        for label in range(12)
        for sets in ("top", "avg")
        for noise in (0.0, 0.2)
    )


def test_each_kind_of_set_has_a_panel_with_a_line_an_arm_through_the_means_of_bins(
    study: Study, rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Axes] = []

    def keep(figure: Figure, path: Path) -> Path:
        drawn.extend(figure.axes)
        return path

    monkeypatch.setattr(per_class_figure, "save", keep)
    assert draw_per_class(study, rows, {"data.label_noise": 0.2}, tmp_path / "a.png") == tmp_path / "a.png"
    assert [axis.get_ylabel() for axis in drawn] == ["test top-2 accuracy (%)", "test average-2 accuracy (%)"]
    last = [*study.arms][-1]
    here = rows[(rows["point.data.label_noise"] == 0.2) & (rows["sets"] == "top") & (rows["arm"] == last)]
    drawn_line = next(line for line in drawn[0].get_lines() if line.get_label() == last)
    # 11 classes with test images in two bins of at least four: the six with the fewest training images, and five
    few = (
        here[here["accuracy"].notna()]
        .sort_values("train", kind="stable")
        .groupby("class")
        .filter(lambda own: own.name in (0, 1, 2, 4, 5, 6))
    )
    assert drawn_line.get_ydata()[0] == pytest.approx(100 * few.groupby("seed")["accuracy"].mean().mean())
    assert drawn_line.get_xdata().tolist() == [
        np.median([10, 40, 90, 250, 360, 490]),
        np.median([640, 810, 1000, 1210, 1440]),
    ]
    assert drawn[0].get_xscale() == "log"


def test_where_nothing_is_confirmed_nothing_is_drawn(study: Study, rows: pd.DataFrame, tmp_path: Path) -> None:
    assert draw_per_class(study, rows.assign(stage="default"), {}, tmp_path / "a.png") is None
