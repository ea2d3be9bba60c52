"""The search's objective against what was searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.sensitivity_figure import CURVE_FROM, draw_sensitivity
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study

Drawn = dict[str, Figure]

FILE = Path("sensitivity.png")
CHOSEN = 12  # size of the ring's marker; that of a dot is 5


def _dots(panel: Axes, *, ring: bool = False) -> list[tuple[float, float]]:
    kind = [line for line in panel.lines if line.get_marker() != "None" and (line.get_markersize() == CHOSEN) == ring]
    return [(float(x), float(y)) for line in kind for x, y in line.get_xydata()]


def _intervals(panel: Axes) -> list[list[float]]:
    """Their ends, in the order of the trials."""
    drawn = [each for each in panel.collections if isinstance(each, LineCollection)]
    return [[float(y) for _, y in segment] for each in drawn for segment in each.get_segments()]


def _searching(make_study: Any, *spaces: Space, **changes: Any) -> Study:
    searched = dict(zip(("loss.alpha", "training.batch_size"), spaces, strict=False))
    arms = {"avgk": Arm(name="avgk", loss="avgk", searched=searched)}
    study: Study = make_study(arms=arms, grid={}, **changes)
    return study


def test_a_trial_is_a_dot_with_its_interval_and_the_chosen_one_is_ringed(
    report: Report, drawn: Drawn, title_of: Callable[[Figure], str]
) -> None:
    point = {"data.label_noise": 0.2}
    assert draw_sensitivity(report, point, FILE) == FILE
    (panel,) = drawn[FILE.name].axes
    assert (panel.get_title(), panel.get_xlabel()) == ("avgk", "alpha")
    assert panel.get_ylabel() == "val average-2 accuracy (%)"
    trials = [a for a in report.aggregates if (a.stage, a.metric, a.point) == ("search", "val/avg2_accuracy", point)]
    expected = [(a.params["alpha"], 100 * a.mean) for a in trials if a.mean is not None]
    assert len(expected) == 4
    assert _dots(panel) == expected
    assert _dots(panel, ring=True) == [expected[1]]
    pooled = [report.search_intervals[a.candidate] for a in trials]
    assert _intervals(panel) == [[100 * p.ci_low, 100 * p.ci_high] for p in pooled]  # type: ignore[operator]
    assert title_of(drawn[FILE.name]) == (
        "fashion_losses, data.label_noise = 0.2, sensitivity (ring: chosen), "
        "95 % intervals over 2 seeds, variance of all trials"
    )


def test_what_was_searched_on_a_log_scale_is_drawn_on_one(
    report: Report, make_study: Any, results: Any, drawn: Drawn
) -> None:
    draw_sensitivity(report, {"data.label_noise": 0.0}, FILE)
    assert drawn[FILE.name].axes[0].get_xscale() == "log"
    narrow = _searching(make_study, Space(kind="uniform", low=0.1, high=1.5, default=1.0), confirm_seeds=(100,))
    draw_sensitivity(build_report(narrow, [(r, x) for r, x in results(narrow) if r.trial in (0, 1)]), {}, FILE)
    assert drawn[FILE.name].axes[0].get_xscale() == "linear"  # 0.1 and 0.4


def test_every_searched_value_has_a_panel(make_study: Any, results: Any, drawn: Drawn) -> None:
    choices = tuple(0.1 * 4**trial for trial in range(4))  # those of the made-up runs
    study = _searching(
        make_study,
        Space(kind="log_uniform", low=0.1, high=10.0, default=1.0),
        Space(kind="choice", choices=choices, default=choices[0]),
    )
    draw_sensitivity(build_report(study, results(study)), {}, FILE)
    assert [panel.get_xlabel() for panel in drawn[FILE.name].axes] == ["alpha", "training.batch_size"]


def test_choices_that_are_no_numbers_are_spaced_evenly_in_the_order_of_the_study(
    make_study: Any, results: Any, drawn: Drawn
) -> None:
    choices = ("full", *(0.1 * 4**trial for trial in range(4)))
    study = _searching(make_study, Space(kind="choice", choices=choices, default="full"))
    draw_sensitivity(build_report(study, results(study)), {}, FILE)
    panel = drawn[FILE.name].axes[0]
    assert [x for x, _ in _dots(panel)] == [1.0, 2.0, 3.0, 4.0]
    assert [label.get_text() for label in panel.get_xticklabels()][:2] == ["full", "0.1"]


@pytest.mark.parametrize("choices", [(0.4, 1.6, 6.4), ("full", 0.4, 1.6, 6.4)])
def test_a_default_that_is_none_of_the_choices_is_drawn_too(
    make_study: Any, results: Any, drawn: Drawn, choices: tuple[Any, ...]
) -> None:
    """It is always among the candidates."""
    study = _searching(make_study, Space(kind="choice", choices=choices, default=0.1))
    report = build_report(study, results(study))
    assert {a.params["alpha"] for a in report.aggregates} >= {0.1, 0.4}
    draw_sensitivity(report, {}, FILE)
    assert len(_dots(drawn[FILE.name].axes[0])) == 4


def test_the_axis_has_room_for_the_intervals_which_share_their_variance(
    make_study: Any, results: Any, finished: Any, drawn: Drawn
) -> None:
    """One trial's seeds lie 100 times as far apart as those of the others; all means are equal."""

    def outcome(run: Any) -> Any:
        spread = 0.1 if run.trial == 3 else 0.001
        value = 0.5 + spread * (run.seed - 0.5)
        return replace(finished(run), metrics={"val/avg2_accuracy": value})

    study = _searching(make_study, Space(kind="log_uniform", low=0.1, high=10.0, default=1.0))
    report = build_report(study, results(study, outcome))
    draw_sensitivity(report, {}, FILE)
    (end,) = {round(interval.ci_high or 0, 9) for interval in report.search_intervals.values()}
    half = 100 * (end - 0.5)  # 1.1 times it is free
    assert drawn[FILE.name].axes[0].get_ylim() == pytest.approx((50 - 1.1 * half, 50 + 1.1 * half))


def test_one_trial_of_one_seed_can_be_drawn(make_study: Any, results: Any, drawn: Drawn, title_of: Any) -> None:
    search = Search(trials=1, objective="val/avg2_accuracy", seeds=(0,))
    study = _searching(make_study, Space(kind="uniform", low=0.1, high=10.0, default=0.1), search=search)
    draw_sensitivity(build_report(study, results(study)), {}, FILE)
    ((_, mean),) = _dots(drawn[FILE.name].axes[0])
    assert drawn[FILE.name].axes[0].get_ylim() == pytest.approx((mean - 1.1, mean + 1.1))
    assert title_of(drawn[FILE.name]).endswith("95 % intervals over 1 seed, variance of all trials")


def test_a_trial_without_a_result_is_left_out(
    study: Study, results: Any, finished: Any, failed: Any, drawn: Drawn
) -> None:
    report = build_report(study, results(study, lambda run: failed(run) if run.trial == 2 else finished(run)))
    draw_sensitivity(report, {"data.label_noise": 0.0}, FILE)
    assert len(_dots(drawn[FILE.name].axes[0])) == 3


def test_without_a_search_or_a_trial_at_the_point_there_is_nothing_to_draw(
    make_study: Any, study: Study, results: Any, finished: Any, drawn: Drawn
) -> None:
    fixed = make_study(search=None)
    assert draw_sensitivity(build_report(fixed, results(fixed)), {"data.label_noise": 0.0}, FILE) is None
    begun = build_report(study, results(study, lambda run: None if run.point["data.label_noise"] else finished(run)))
    assert draw_sensitivity(begun, {"data.label_noise": 0.2}, FILE) is None
    assert drawn == {}


def test_an_arm_that_searches_two_values_has_a_row_of_panels(make_study: Any, results: Any, drawn: Drawn) -> None:
    choices = tuple(0.1 * 4**trial for trial in range(4))
    both = {"loss.alpha": Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)}
    both["training.batch_size"] = Space(kind="choice", choices=choices, default=choices[0])
    one = dict(list(both.items())[:1])
    arms = {name: Arm(name=name, loss="avgk", searched=own) for name, own in (("a", both), ("b", one), ("c", both))}
    study = make_study(arms=arms, grid={}, compare=Compare())
    draw_sensitivity(build_report(study, results(study)), {}, FILE)
    panels = drawn[FILE.name].axes
    assert [panel.get_title() for panel in panels] == ["a", "a", "b", "c", "c"]
    tops = [panel.get_position().y1 for panel in panels]
    assert tops[0] == tops[1] > tops[2] > tops[3] == tops[4]
    assert [panel.get_ylabel() != "" for panel in panels] == [True, False, True, True, False]


@pytest.mark.parametrize(("searched", "curve"), [(1, True), (2, False)])
def test_a_line_joins_enough_trials_where_they_differ_in_nothing_else(
    make_study: Any, results: Any, drawn: Drawn, searched: int, curve: bool
) -> None:
    spaces = [Space(kind="log_uniform", low=0.1, high=1000.0, default=1.0)] * searched
    search = Search(trials=CURVE_FROM, objective="val/avg2_accuracy", seeds=(0, 1))
    study = _searching(make_study, *spaces, search=search)
    report = build_report(study, results(study))
    draw_sensitivity(report, {}, FILE)
    panel = drawn[FILE.name].axes[0]
    searches = [a for a in report.aggregates if (a.stage, a.metric) == ("search", "val/avg2_accuracy")]
    trials = sorted(((a.params["alpha"], a) for a in searches), key=lambda pair: pair[0])
    assert len(_dots(panel)) == CURVE_FROM
    lines = [line for line in panel.lines if line.get_linestyle() != "None" and line.get_marker() == "None"]
    assert (len(lines), len(_intervals(panel))) == ((1, 0) if curve else (0, CURVE_FROM))
    if curve:
        assert list(lines[0].get_xdata()) == [x for x, _ in trials]
        corners = {(x, y) for x, y in panel.collections[0].get_paths()[0].vertices}  # type: ignore[misc]
        pooled = [(x, report.search_intervals[a.candidate]) for x, a in trials]
        assert {(x, 100 * end) for x, p in pooled for end in (p.ci_low, p.ci_high)} <= corners  # type: ignore[operator]
