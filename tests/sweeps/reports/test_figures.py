"""The figures of a report: which there are, and what is drawn in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.figures import MOST_BY_ITSELF, numeric_axis, write_figures
from setsweep.sweeps.reports.panels import file_name
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study

Drawn = dict[str, Figure]
Outcome = Callable[[Any], Any]
HERE = Path()


def _names(paths: list[Path], kind: str) -> list[str]:
    return [path.name for path in paths if path.name.startswith(kind)]


def _panel(figure: Figure, label: str) -> Axes:
    """The panel whose x or y axis is labelled so."""
    (panel,) = (axis for axis in figure.axes if label in (axis.get_xlabel(), axis.get_ylabel()))
    return panel


@pytest.mark.parametrize(
    ("grid", "axis", "figures"),
    [
        ({}, None, 1),
        ({"data.name": ("circle", "digits")}, None, 2),
        ({"training.batch_size": (32, 128, "full")}, "training.batch_size", 1),
        ({"training.batch_size": (32, "full")}, None, 2),
        ({"training.augment.flip": (True, False)}, None, 2),
        ({"training.batch_size": (4096, 32, 128), "data.name": ("circle", "digits")}, "training.batch_size", 2),
        ({"model.width": (8, 16), "data.label_noise": (0.0, 0.1, 0.2)}, "data.label_noise", 2),
        ({"training.milestones": ((6,), (6, 8))}, None, 2),
        ({"data.sizes": (1, 2, [3])}, None, 3),
    ],
)
def test_over_the_longest_numeric_key_there_is_a_figure_for_each_value_of_the_others_else_one_for_each_point(
    make_study: Any, results: Any, drawn: Drawn, grid: Any, axis: str | None, figures: int
) -> None:
    study = make_study(grid=grid)
    report = build_report(study, results(study))
    assert numeric_axis(report) == axis
    paths = write_figures(report, HERE)
    assert [_number(name) for name in _names(paths, "metrics")] == [*range(1, figures + 1)]
    for kind in ("differences", "sensitivity"):
        expected = [file_name(kind, number, point) for number, point in enumerate(study.points(), 1)]
        assert _names(paths, kind) == expected
    assert [path.name for path in paths] == list(drawn)


def test_over_many_values_the_differences_have_one_figure_with_a_line_for_each_contrast(
    make_study: Any, results: Any, finished: Outcome, drawn: Drawn
) -> None:
    """avgk is better by 0.1, give or take 0.01, from 0.3 of noise on; below that by as much as it is worse."""
    noises = tuple(round(0.05 * step, 2) for step in range(MOST_BY_ITSELF + 1))

    def outcome(run: Any) -> Any:
        better = 0.1 if run.arm == "avgk" and run.point["data.label_noise"] >= 0.3 else 0.0
        value = 0.5 + better + (0.0 if run.arm == "cross_entropy" else 0.01 * (-1) ** run.seed)
        return replace(finished(run), metrics={"test/top2_accuracy": value})

    study = make_study(
        grid={"data.label_noise": noises},
        search=None,
        compare=Compare(baseline="cross_entropy", metrics=("test/top2_accuracy",)),
    )
    paths = write_figures(build_report(study, results(study, outcome)), HERE)
    assert _names(paths, "differences") == ["differences-1.png"]
    panel = _panel(drawn["differences-1.png"], "Δ test top-2 accuracy (points)")
    _, first, filled, second, none = panel.lines
    assert (first.get_label(), second.get_label()) == ("avgk", "noised")
    assert first.get_markerfacecolor() == "white"
    assert len(first.get_xdata()) == len(noises)  # type: ignore[arg-type]
    assert (len(filled.get_xdata()), len(none.get_xdata())) == (sum(noise >= 0.3 for noise in noises), 0)  # type: ignore[arg-type]
    assert filled.get_markerfacecolor() == filled.get_color() == first.get_color()


def _number(name: str) -> int:
    return int(name.removesuffix(".png").split("-")[1])


def test_files_of_another_grid_are_removed_and_nobody_elses(make_study: Any, results: Any, tmp_path: Path) -> None:
    for name in ("differences-2.png", "metrics-1-label_noise-0.4.png", "mine-1.png", "metrics.png"):
        (tmp_path / name).write_bytes(b"")
    study = make_study(grid={}, search=None, compare=Compare())
    write_figures(build_report(study, results(study)), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["metrics-1.png", "metrics.png", "mine-1.png"]


def test_a_folder_is_made_for_the_files(make_study: Any, results: Any, tmp_path: Path) -> None:
    study = make_study(grid={}, search=None, compare=Compare())
    assert write_figures(build_report(study, results(study)), tmp_path / "new") == [tmp_path / "new" / "metrics-1.png"]
    assert (tmp_path / "new" / "metrics-1.png").exists()


def test_over_a_grid_every_arm_is_a_line_of_means_in_percent_with_the_band_of_its_intervals(
    make_study: Any, results: Any, drawn: Drawn, title_of: Callable[[Figure], str]
) -> None:
    study = make_study(grid={"data.label_noise": (0.0, 0.1, 0.2)})
    report = build_report(study, results(study))
    write_figures(report, HERE)
    figure = drawn["metrics-1.png"]
    assert title_of(figure) == "fashion_losses, 95 % intervals over seeds"
    panel = _panel(figure, "test top-2 accuracy (%)")
    assert panel.get_xlabel() == "data.label_noise"
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0", "0.1", "0.2"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(report.study.arms)
    assert [line.get_label() for line in panel.lines] == list(report.study.arms)
    for line, band in zip(panel.lines, panel.collections, strict=True):
        own = [a for a in report.aggregates if (a.arm, a.metric) == (line.get_label(), "test/top2_accuracy")]
        assert list(line.get_xdata()) == [0.0, 0.1, 0.2]
        assert list(line.get_ydata()) == [100 * a.mean for a in own if a.mean is not None]
        corners = {(x, y) for x, y in band.get_paths()[0].vertices}  # type: ignore[union-attr,misc]
        for a in own:
            assert a.ci_low is not None
            assert a.ci_high is not None
            x = a.point["data.label_noise"]
            assert {(x, 100 * a.ci_low), (x, 100 * a.ci_high)} <= corners


def test_two_values_have_intervals_and_no_band_that_would_tell_of_what_lies_between_them(
    report: Report, drawn: Drawn
) -> None:
    write_figures(report, HERE)
    panel = _panel(drawn["metrics-1.png"], "test top-2 accuracy (%)")
    for line, intervals in zip(panel.lines, panel.collections, strict=True):
        own = [a for a in report.aggregates if (a.arm, a.metric) == (line.get_label(), "test/top2_accuracy")]
        expected = [
            ((a.point["data.label_noise"], 100 * a.ci_low), (a.point["data.label_noise"], 100 * a.ci_high))
            for a in own
            if a.ci_low is not None and a.ci_high is not None
        ]
        assert [tuple(map(tuple, path.vertices)) for path in intervals.get_paths()] == expected


def test_with_another_key_beside_it_a_figure_has_the_runs_of_one_of_its_values(
    make_study: Any, results: Any, drawn: Drawn, title_of: Callable[[Figure], str]
) -> None:
    study = make_study(grid={"data.name": ("circle", "digits"), "data.label_noise": (0.0, 0.2)}, search=None)
    report = build_report(study, results(study))
    write_figures(report, HERE)
    for number, name in enumerate(("circle", "digits"), 1):
        figure = drawn[f"metrics-{number}-name-{name}.png"]
        assert title_of(figure) == f"fashion_losses, data.name = {name}, 95 % intervals over seeds"
        for line in _panel(figure, "test top-2 accuracy (%)").lines:
            own = [a for a in report.aggregates if (a.arm, a.metric) == (line.get_label(), "test/top2_accuracy")]
            means = [100 * a.mean for a in own if a.point["data.name"] == name and a.mean is not None]
            assert list(line.get_ydata()) == means


def test_without_numbers_in_the_grid_a_figure_has_the_runs_of_one_point(
    make_study: Any, results: Any, drawn: Drawn, title_of: Callable[[Figure], str]
) -> None:
    study = make_study(grid={"data.name": ("circle", "digits")}, search=None)
    report = build_report(study, results(study))
    write_figures(report, HERE)
    for number, name in enumerate(("circle", "digits"), 1):
        figure = drawn[f"metrics-{number}-name-{name}.png"]
        assert title_of(figure) == f"fashion_losses, data.name = {name}, 95 % intervals over seeds"
        dots = _panel(figure, "test top-2 accuracy (%)").lines[1::2]
        own = [a for a in report.aggregates if a.metric == "test/top2_accuracy" and a.point["data.name"] == name]
        assert [list(dot.get_xdata()) for dot in dots] == [[100 * a.mean] for a in own if a.mean is not None]
    for figure in (drawn["metrics-1-name-circle.png"], drawn["differences-1-name-circle.png"]):
        figure.draw_without_rendering()
        named = [any(label.get_visible() for label in axis.get_yticklabels()) for axis in figure.axes]
        assert named == [True, False, True, False], "in the first of two columns"


def test_one_seed_over_a_grid_is_a_line_without_a_band(make_study: Any, results: Any, drawn: Drawn) -> None:
    study = make_study(search=None, confirm_seeds=(100,), compare=Compare())
    write_figures(build_report(study, results(study)), HERE)
    panel = drawn["metrics-1.png"].axes[0]
    assert [len(line.get_xdata()) for line in panel.lines] == [2, 2, 2]
    assert all(len(band.get_paths()[0].vertices) <= 3 for band in panel.collections if band.get_paths())


def test_without_a_grid_every_arm_is_a_dot_with_its_interval_in_a_row_of_its_own(
    make_study: Any, results: Any, drawn: Drawn
) -> None:
    study = make_study(grid={})
    report = build_report(study, results(study))
    write_figures(report, HERE)
    panel = _panel(drawn["metrics-1.png"], "test top-2 accuracy (%)")
    own = [a for a in report.aggregates if a.metric == "test/top2_accuracy"]
    intervals, dots = panel.lines[::2], panel.lines[1::2]
    assert [list(dot.get_ydata()) for dot in dots] == [[0], [1], [2]]
    assert [list(dot.get_xdata()) for dot in dots] == [[100 * a.mean] for a in own if a.mean is not None]
    assert [list(line.get_xdata()) for line in intervals] == [[100 * a.ci_low, 100 * a.ci_high] for a in own]  # type: ignore[operator]
    assert [label.get_text() for label in panel.get_yticklabels()] == list(study.arms)


def test_one_seed_has_a_dot_and_no_interval(make_study: Any, results: Any, drawn: Drawn) -> None:
    study = make_study(grid={}, search=None, confirm_seeds=(100,), compare=Compare())
    write_figures(build_report(study, results(study)), HERE)
    assert list(drawn) == ["metrics-1.png"]
    assert [len(line.get_xdata()) for line in drawn["metrics-1.png"].axes[0].lines] == [1, 1, 1]


def test_a_difference_is_filled_where_it_is_significant(
    make_study: Any, results: Any, finished: Outcome, drawn: Drawn, title_of: Callable[[Figure], str]
) -> None:
    """One arm is better by 0.1 with every seed, give or take 0.01; the other by 0.01 and worse by it in turns."""

    def outcome(run: Any) -> Any:
        better = {"cross_entropy": 0.0, "avgk": 0.1, "noised": 0.0}[run.arm]
        value = 0.5 + better + (0.0 if run.arm == "cross_entropy" else 0.01 * (-1) ** run.seed)
        return replace(finished(run), metrics={"test/top2_accuracy": value})

    study = make_study(grid={}, search=None, compare=Compare(baseline="cross_entropy", metrics=("test/top2_accuracy",)))
    write_figures(build_report(study, results(study, outcome)), HERE)
    figure = drawn["differences-1.png"]
    assert title_of(figure).startswith("fashion_losses, difference to cross_entropy (filled: corrected p < 0.05), 95 %")
    panel = _panel(figure, "Δ test top-2 accuracy (points)")
    zero, _, first, thin, own, second = panel.lines  # Holm's correction tells the sign alone of the first
    assert list(zero.get_xdata()) == [0, 0]
    assert title_of(figure).endswith("95 % intervals over seeds, each by itself; thin: all together")
    assert first.get_xdata()[0] == pytest.approx(10.2)  # type: ignore[index]
    assert first.get_markerfacecolor() == first.get_color()
    assert second.get_markerfacecolor() == "white"
    (low, high), (first_end, last_end) = thin.get_xdata(), own.get_xdata()  # type: ignore[misc]
    assert low <= first_end < 0 < last_end <= high
    assert thin.get_linewidth() < own.get_linewidth()
    assert [label.get_text() for label in panel.get_yticklabels()] == ["avgk", "noised"]


def test_what_the_study_compares_is_drawn_beside_the_accuracies(make_study: Any, results: Any, drawn: Drawn) -> None:
    compare = Compare(baseline="cross_entropy", metrics=("test/macro_top2_accuracy", "test/avg2_set_size"))
    study = make_study(compare=compare)
    write_figures(build_report(study, results(study)), HERE)
    assert [axis.get_ylabel() for axis in drawn["metrics-1.png"].axes] == [
        *(f"test {rule}-{k} accuracy (%)" for k in (2, 3) for rule in ("top", "average")),
        "test macro top-2 accuracy (%)",
        "test average-2 set size (labels)",
    ]


def test_a_study_without_results_has_no_figures(study: Study, drawn: Drawn) -> None:
    assert write_figures(build_report(study, []), HERE) == []
    assert drawn == {}


def test_dead_arms_and_points_without_results_are_left_out(
    study: Study, results: Any, finished: Outcome, failed: Outcome, drawn: Drawn
) -> None:
    def outcome(run: Any) -> Any:
        if run.arm == "cross_entropy":
            return failed(run)
        return None if run.point["data.label_noise"] else finished(run)

    write_figures(build_report(study, results(study, outcome)), HERE)
    assert list(drawn) == ["metrics-1.png", "sensitivity-1-label_noise-0.png"]
    panel = drawn["metrics-1.png"].axes[0]
    assert [(line.get_label(), list(line.get_xdata())) for line in panel.lines] == [
        ("cross_entropy", []),
        ("avgk", [0.0]),
        ("noised", [0.0]),
    ]
