"""What the tables of a report say, before any format."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables import (
    Cell,
    Table,
    all_tables,
    difference_tables,
    in_order,
    is_significant,
    main_metrics,
    result_tables,
    search_tables,
)
from setsweep.sweeps.study.study import Compare, Study

Outcome = Callable[[Any], Any]

MAIN = ("top-2 (%)", "avg-2 (%)", "avg-2 size (labels)", "top-3 (%)", "avg-3 (%)", "avg-3 size (labels)")


def _column(table: Table, heading: str) -> list[Cell]:
    return [row[table.header.index(heading)] for row in table.rows]


def _texts(table: Table, heading: str) -> list[str]:
    return [cell.text for cell in _column(table, heading)]


def test_every_point_of_the_grid_has_its_results_and_differences_and_the_search_one_table(report: Report) -> None:
    places = ("data.label_noise = 0", "data.label_noise = 0.2")
    assert [table.title for table in all_tables(report)] == [
        *(f"Test results, {place}" for place in places),
        *(f"Differences to cross_entropy, {place}" for place in places),
        "Search on validation",
    ]
    assert all(len(row) == len(table.header) for table in all_tables(report) for row in table.rows)


def test_without_a_grid_a_title_names_no_place(make_study: Any, results: Any) -> None:
    study = make_study(grid={})
    assert [table.title for table in all_tables(build_report(study, results(study)))] == [
        "Test results",
        "Differences to cross_entropy",
        "Search on validation",
    ]


def test_results_are_means_with_half_widths_how_many_seeds_and_the_configuration(report: Report) -> None:
    table = result_tables(report)[0]
    assert table.header == ("arm", *MAIN, "n", "hyperparameters")
    assert table.text == (0, 8)
    assert _texts(table, "arm") == ["cross_entropy", "avgk", "noised"]
    assert _texts(table, "n") == ["5"] * 3
    assert _texts(table, "hyperparameters") == ["-", "alpha = 0.4", "num_samples = 3"]
    (mean,) = (
        a
        for a in report.aggregates
        if (a.arm, a.metric) == ("avgk", "test/top2_accuracy") and not any(a.point.values())
    )
    assert mean.mean is not None
    assert mean.ci_high is not None
    shown = f"{100 * mean.mean:.2f} ± {100 * (mean.ci_high - mean.mean):.2f}"
    assert _texts(table, "top-2 (%)")[1] == shown


def test_the_best_accuracy_of_a_column_stands_out_and_no_size_does(report: Report) -> None:
    for table in result_tables(report):
        for heading in MAIN:
            strong = [cell.strong for cell in _column(table, heading)]
            assert strong == ([False] * 3 if "size" in heading else [False, True, False])


def test_arms_that_are_equally_good_stand_out_together(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={"val/avg2_accuracy": 0.5, "test/top2_accuracy": run.seed / 200})

    table = result_tables(build_report(study, results(study, outcome)))[0]
    assert [cell.strong for cell in _column(table, "top-2 (%)")] == [True] * 3


def test_a_dead_seed_is_missing_in_n_where_it_is_dead(
    study: Study, results: Any, finished: Outcome, failed: Outcome
) -> None:
    def outcome(run: Any) -> Any:
        dead = (run.arm, run.seed) == ("noised", 101) and run.point["data.label_noise"]
        return failed(run) if dead else finished(run)

    tables = result_tables(build_report(study, results(study, outcome)))
    assert [_texts(table, "n") for table in tables] == [["5", "5", "5"], ["5", "5", "4 of 5"]]


def test_a_metric_that_some_seeds_lack_says_its_own_n(study: Study, results: Any, finished: Outcome) -> None:
    """As that of a group of which the data of some seeds have no class."""

    def outcome(run: Any) -> Any:
        lacking = {"test/top2_accuracy": math.nan} if run.seed in (100, 101) else {}
        return replace(finished(run), metrics={**finished(run).metrics, **lacking})

    table = result_tables(build_report(study, results(study, outcome)))[0]
    assert all(text.endswith(" (n = 3)") for text in _texts(table, "top-2 (%)"))
    assert not any("n =" in text for text in _texts(table, "avg-2 (%)"))
    assert _texts(table, "n") == ["5"] * 3


def test_a_metric_that_no_seed_has_is_a_dash_and_not_the_best(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/top2_accuracy": math.nan})

    table = result_tables(build_report(study, results(study, outcome)))[0]
    assert _column(table, "top-2 (%)") == [Cell("-", strong=False)] * 3


def test_an_arm_without_a_result_has_a_row_all_the_same(study: Study, results: Any, finished: Outcome) -> None:
    table = result_tables(build_report(study, results(study, lambda run: finished(run) if run.arm != "avgk" else None)))
    row = {heading: cell.text for heading, cell in zip(table[0].header, table[0].rows[1], strict=True)}
    assert row == {"arm": "avgk", **dict.fromkeys(MAIN, "-"), "n": "0 of 5", "hyperparameters": "alpha = 0.4"}
    begun = result_tables(build_report(study, []))[0]
    assert [cell.text for cell in begun.rows[1]] == ["avgk", *["-"] * len(MAIN), "0 of 5", "-"]


def test_a_study_that_names_its_metrics_sees_those_and_the_sizes_of_their_sets(make_study: Any, results: Any) -> None:
    compare = Compare(baseline="cross_entropy", metrics=("test/avg3_accuracy", "test/macro_top2_accuracy"))
    study = make_study(compare=compare)
    report = build_report(study, results(study))
    shown = ("avg-3 (%)", "avg-3 size (labels)", "macro top-2 (%)")
    assert result_tables(report)[0].header == ("arm", *shown, "n", "hyperparameters")
    assert difference_tables(report)[0].header == ("arm", "Δ avg-3 (points)", "p", "Δ macro top-2 (points)", "p", "n")


def test_macro_averages_are_shown_only_where_they_differ(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/macro_top3_accuracy": 0.5})

    assert result_tables(build_report(study, results(study)))[0].header[1:-2] == MAIN
    assert result_tables(build_report(study, results(study, outcome)))[0].header[1:-2] == (*MAIN, "macro top-3 (%)")


def test_differences_are_those_of_every_arm_but_the_baseline_with_their_sign(report: Report) -> None:
    table = difference_tables(report)[0]
    assert _texts(table, "arm") == ["avgk", "noised"]
    assert table.header[:3] == ("arm", "Δ top-2 (points)", "p")
    assert table.text == (0,)
    (found,) = (
        c
        for c in report.comparisons
        if (c.arm, c.metric) == ("avgk", "test/top2_accuracy") and not any(c.point.values())
    )
    assert found.difference is not None
    assert found.ci_high is not None
    half = 100 * (found.ci_high - found.difference)
    assert _texts(table, "Δ top-2 (points)")[0] == f"+{100 * found.difference:.2f} ± {half:.2f}"


def test_a_significant_difference_is_marked_and_no_other(make_study: Any, results: Any, finished: Outcome) -> None:
    """One arm is better by 0.1 with every seed, give or take 0.01; the other by 0.01 and worse by it in turns."""

    def outcome(run: Any) -> Any:
        better = {"cross_entropy": 0.0, "avgk": 0.1, "noised": 0.0}[run.arm]
        value = 0.5 + better + (0.0 if run.arm == "cross_entropy" else 0.01 * (-1) ** run.seed)
        return replace(finished(run), metrics={"test/top2_accuracy": value})

    study = make_study(grid={}, search=None)
    (table,) = difference_tables(build_report(study, results(study, outcome)))
    assert _texts(table, "arm") == ["avgk", "noised"]
    # Seeds 100 to 104: the differences have deviation 0.01095, so t is 0.102 / 0.0049 = 20.8 and 0.002 / 0.0049 = 0.41
    # with 4 degrees of freedom, and p 0.00003 and 0.704 (Holm multiplies the larger by 1).
    assert _texts(table, "p") == ["<0.001*", "0.704"]


def test_differences_of_several_n_give_both_ends(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        lacking = {"test/top2_accuracy": math.nan} if (run.arm, run.seed) == ("avgk", 100) else {}
        return replace(finished(run), metrics={**finished(run).metrics, **lacking})

    assert _texts(difference_tables(build_report(study, results(study, outcome)))[0], "n") == ["4-5", "5"]


def test_without_a_baseline_there_are_no_differences(make_study: Any, results: Any) -> None:
    study = make_study(compare=Compare())
    assert difference_tables(build_report(study, results(study))) == []


@pytest.mark.parametrize(("p", "expected"), [(0.049, True), (0.05, False), (0.2, False), (None, False)])
def test_a_difference_is_significant_below_the_level_and_not_at_it(
    report: Report, study: Study, p: float | None, expected: bool
) -> None:
    assert is_significant(replace(report.comparisons[0], p_corrected=p), study) == expected


def test_the_search_has_a_row_for_every_arm_that_was_searched(report: Report) -> None:
    (table,) = search_tables(report)
    assert table.header == ("arm", "trials", "best val/avg2_accuracy (%) at each point")
    assert table.text == (0, 2)
    assert _texts(table, "arm") == ["avgk"]
    assert _texts(table, "trials") == ["8"]  # four at each of two points
    best = [
        max(a.mean for a in report.aggregates if _is_trial(a) and a.point == point and a.mean is not None)
        for point in report.study.points()
    ]
    shown = _texts(table, "best val/avg2_accuracy (%) at each point")[0].split("; ")
    assert [text.split(" ± ")[0] for text in shown] == [f"{100 * mean:.2f}" for mean in best]


def _is_trial(aggregate: Any) -> bool:
    return aggregate.stage == "search" and aggregate.metric == "val/avg2_accuracy"


def test_a_trial_without_any_result_is_counted_out_and_a_point_without_one_is_a_dash(
    study: Study, results: Any, finished: Outcome, failed: Outcome
) -> None:
    def outcome(run: Any) -> Any:
        dead = run.trial == 3 or (run.trial is not None and run.point["data.label_noise"])
        return failed(run) if dead else finished(run)

    (table,) = search_tables(build_report(study, results(study, outcome)))
    assert [cell.text for cell in table.rows[0]][1] == "3 of 8"
    assert table.rows[0][2].text.endswith("; -")


def test_without_a_search_there_is_no_table_of_it(make_study: Any, results: Any) -> None:
    study = make_study(search=None)
    assert search_tables(build_report(study, results(study))) == []


def test_a_search_whose_trials_have_no_result_yet_has_no_table(study: Study) -> None:
    assert search_tables(build_report(study, [])) == []


def test_the_main_metrics_come_first_in_their_order(study: Study) -> None:
    assert main_metrics(study)[:3] == ["test/top2_accuracy", "test/avg2_accuracy", "test/avg2_set_size"]
    mixed = ["test/macro_top2_accuracy", "test/avg3_set_size", "test/avg2_accuracy", "test/macro_avg2_accuracy"]
    assert in_order(study, mixed) == [
        "test/avg2_accuracy",
        "test/avg3_set_size",
        "test/macro_avg2_accuracy",
        "test/macro_top2_accuracy",
    ]


def test_the_values_of_a_grid_may_be_lists_and_mappings(make_study: Any, results: Any) -> None:
    """Those of a user's own data."""
    study = make_study(grid={"data.sizes": ([1], [2, 3], {"a": 1})})
    tables = all_tables(build_report(study, results(study)))
    assert [table.title for table in tables[:3]] == [
        "Test results, data.sizes = [1]",
        "Test results, data.sizes = [2, 3]",
        "Test results, data.sizes = {a = 1}",
    ]
