"""Pictures of sensitivity: what is in them, and not how it looks, which was looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.patches import Rectangle

from setsweep.sweeps.reports.sensitivity import pictures
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity
from setsweep.trainables.config.run_result import RunResult


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The pictures by the name of their file, which is not written: that takes longest."""
    kept: dict[str, Any] = {}

    def keep(figure: Any, path: Path) -> Path:
        kept[path.name] = figure
        return path

    monkeypatch.setattr(pictures, "save", keep)
    return kept


def draw(report: Any) -> None:
    pictures.draw_all(build_sensitivity(report), Path())


def titles(figure: Any) -> list[str]:
    return [axis.get_title() for axis in figure.axes]


def labels(axis: Any) -> set[str]:
    return set(axis.get_legend_handles_labels()[1])


def test_an_arm_has_a_row_of_panels_in_the_order_in_which_they_are_read(reported: Any, drawn: Any) -> None:
    draw(reported(sensitivity={"avgk.alpha": 3, "training.batch_size": [32, 64], "seeds": 3}))
    assert titles(drawn["design-1.png"]) == [
        "cross_entropy\ntraining.batch_size",
        "cross_entropy\nshares of variance",
        "avgk\nalpha, mean over training.batch_size",
        "avgk\ntraining.batch_size, mean over alpha",
        "avgk\nshares of variance",
        "avgk\navg-2 (%), outlined: not told from the best",
    ]


def test_a_curve_has_both_bands_dots_marks_plateau_and_baseline_on_a_log_axis(
    reported: Any, drawn: Any, grid: Any
) -> None:
    draw(reported(**grid))
    axis = drawn["design-1.png"].axes[0]
    assert axis.get_xscale() == "log"
    assert {"each value by itself", "whole curve", "seeds", "default", "not told from the best"} <= labels(axis)
    assert "cross_entropy (baseline)" in labels(axis)
    dots = [line for line in axis.lines if line.get_marker() == "." and len(line.get_xdata()) == 5]
    assert len(dots) == 9


def test_zero_among_logarithmic_values_makes_the_axis_symlog(reported: Any, drawn: Any) -> None:
    draw(reported(sensitivity={"avgk.alpha": [0, 0.1, 1, 10], "seeds": 3}))
    assert drawn["design-1.png"].axes[0].get_xscale() == "symlog"


def test_names_stand_side_by_side(reported: Any, drawn: Any) -> None:
    draw(reported(sensitivity={"training.batch_size": [64, "full"], "seeds": 3}))
    ticks = [tick.get_text() for tick in drawn["design-1.png"].axes[0].get_xticklabels()]
    assert ticks == ["64", "full"]


def test_the_heat_map_outlines_what_can_not_be_told_from_the_best(reported: Any, drawn: Any) -> None:
    draw(reported(sensitivity={"avgk.alpha": [0.1, 2, 20], "training.batch_size": [16, 64], "seeds": 5}))
    axis = drawn["design-1.png"].axes[-1]
    (outline,) = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    assert outline.get_xy() == (0.5, 0.5)  # alpha 2 in the second row, batch size 64 in the second column
    assert len(axis.texts) == 6


def test_a_search_has_slices_shares_parallel_coordinates_and_its_tuning_curve(reported: Any, drawn: Any) -> None:
    ranges = {"alpha": {"log_uniform": [0.1, 10]}, "training.batch_size": {"int": [16, 256]}, "k": 2}
    draw(reported(arms={"avgk": ranges}, search={"trials": 20, "seeds": 2, "sampler": "qmc"}, compare={}))
    assert titles(drawn["search-1.png"]) == [
        "avgk\nalpha, all else differs",
        "avgk\ntraining.batch_size, all else differs",
        "avgk\nshares of variance",
        "avgk\nall values of a trial, dark: best",
        "avgk\ntuning curve",
    ]


def test_failures_have_a_panel_with_the_cliff(reported: Any, drawn: Any) -> None:
    def outcome(run: Any) -> RunResult:
        status: Any = "diverged" if run.config.loss.get("alpha", 1.0) < 0.2 else "done"
        value = 0.9 + run.seed / 1e3 + run.config.loss.get("alpha", 1.0) / 1e3
        metrics = {f"{split}/avg2_accuracy": value for split in ("val", "test")} if status == "done" else {}
        return RunResult(key=run.key, status=status, metrics=metrics)

    draw(reported(outcome, sensitivity={"avgk.alpha": 9, "seeds": 5}))
    axis = drawn["design-1.png"].axes[-1]
    assert axis.get_title() == "avgk\nfailures over alpha"
    assert labels(axis) == {"cliff (p = 0.001)"}


def test_each_point_has_a_picture_and_regrets_over_points_have_one(reported: Any, drawn: Any) -> None:
    draw(reported(grid={"data.label_noise": [0.0, 0.2]}, sensitivity={"avgk.alpha": [0.1, 2], "seeds": 3}))
    assert set(drawn) == {"design-1.png", "design-2.png", "everywhere.png"}
    assert "label_noise = 0.2" in drawn["design-2.png"].get_suptitle()
