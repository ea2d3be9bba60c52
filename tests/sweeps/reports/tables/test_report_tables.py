"""What the tables of a report say, before any format."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.report_tables import all_tables, result_tables
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study

Outcome = Callable[[Any], Any]

MAIN = ("top-2 (%)", "avg-2 (%)", "avg-2 size (labels)", "top-3 (%)", "avg-3 (%)", "avg-3 size (labels)")
LOWEST = "lowest avg-2 (%)"


def _column(table: Table, heading: str) -> list[Cell]:
    return [row[table.header.index(heading)] for row in table.rows]


def _texts(table: Table, heading: str) -> list[str]:
    return [cell.text for cell in _column(table, heading)]


def test_every_point_of_the_grid_has_its_results_and_differences_and_the_search_one_table(report: Report) -> None:
    places = ("data.label_noise = 0", "data.label_noise = 0.2")
    assert [table.title for table in all_tables(report)] == [
        *(f"Test results, {place}" for place in places),
        *(f"Differences to cross_entropy, {place}" for place in places),
        "Closer: avg-2 (%)",
        "Search on validation",
        "Choices",
        "Budget",
    ]
    assert all(len(row) == len(table.header) for table in all_tables(report) for row in table.rows)


def test_without_a_grid_a_title_names_no_place(make_study: Any, results: Any) -> None:
    study = make_study(grid={})
    assert [table.title for table in all_tables(build_report(study, results(study)))] == [
        "Test results",
        "Differences to cross_entropy",
        "Closer: avg-2 (%)",
        "Search on validation",
        "Choices",
        "Budget",
    ]


def test_results_are_means_with_half_widths_how_many_seeds_and_the_configuration(report: Report) -> None:
    table = result_tables(report)[0]
    assert table.header == ("arm", *MAIN, LOWEST, "n", "hyperparameters")
    assert table.text == (0, 9)
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
    assert row == {
        "arm": "avgk",
        **dict.fromkeys(MAIN, "-"),
        LOWEST: "-",
        "n": "0 of 5",
        "hyperparameters": "alpha = 0.4",
    }
    begun = result_tables(build_report(study, []))[0]
    assert [cell.text for cell in begun.rows[1]] == ["avgk", *["-"] * len(MAIN), "-", "0 of 5", "-"]


def test_a_study_that_names_its_metrics_sees_those_and_the_sizes_of_their_sets(make_study: Any, results: Any) -> None:
    compare = Compare(baseline="cross_entropy", metrics=("test/avg3_accuracy", "test/macro_top2_accuracy"))
    study = make_study(compare=compare)
    report = build_report(study, results(study))
    shown = ("avg-3 (%)", "avg-3 size (labels)", "macro top-2 (%)")
    assert result_tables(report)[0].header == ("arm", *shown, "lowest avg-3 (%)", "n", "hyperparameters")


def test_macro_averages_are_shown_only_where_they_differ(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/macro_top3_accuracy": 0.5})

    assert result_tables(build_report(study, results(study)))[0].header[1:-3] == MAIN
    assert result_tables(build_report(study, results(study, outcome)))[0].header[1:-3] == (*MAIN, "macro top-3 (%)")


def test_the_values_of_a_grid_may_be_lists_and_mappings(make_study: Any, results: Any) -> None:
    """Those of a user's own data."""
    study = make_study(grid={"data.sizes": ([1], [2, 3], {"a": 1})})
    tables = all_tables(build_report(study, results(study)))
    assert [table.title for table in tables[:3]] == [
        "Test results, data.sizes = [1]",
        "Test results, data.sizes = [2, 3]",
        "Test results, data.sizes = {a = 1}",
    ]


def test_an_arm_with_a_dead_seed_does_not_stand_out_and_has_the_mean_with_0s(
    study: Study, results: Any, finished: Outcome, failed: Outcome
) -> None:
    report = build_report(
        study, results(study, lambda run: failed(run) if (run.arm, run.seed) == ("avgk", 100) else finished(run))
    )
    table = result_tables(report)[0]
    assert [cell.strong for cell in _column(table, "avg-2 (%)")][1] is False
    (mean,) = (
        a.mean
        for a in report.aggregates
        if (a.arm, a.metric, a.stage) == ("avgk", "test/avg2_accuracy", "confirm") and not any(a.point.values())
    )
    assert mean is not None
    assert _texts(table, "avg-2 (%)")[1].endswith(f" ({100 * mean * 4 / 5:.2f} with 0s)")


def test_the_lowest_seed_of_the_primary_metric_is_shown(report: Report) -> None:
    lowest = [
        min(a.numbers.values())
        for a in report.aggregates
        if a.stage == "confirm" and a.metric == "test/avg2_accuracy" and not any(a.point.values())
    ]
    assert _texts(result_tables(report)[0], LOWEST) == [f"{100 * value:.2f}" for value in lowest]
