from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.searches import divergence_tables, search_tables, spent_tables
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.study.study import Study

Outcome = Callable[[Any], Any]


def _texts(table: Table, heading: str) -> list[str]:
    return [row[table.header.index(heading)].text for row in table.rows]


def test_the_search_has_a_row_for_every_arm_that_was_searched(report: Report) -> None:
    (table,) = search_tables(report)
    assert table.header == ("arm", "trials", "best val/avg2_accuracy (%) at each point")
    assert table.text == (0, 2)
    assert _texts(table, "arm") == ["avgk"]
    assert _texts(table, "trials") == ["8"]  # four at each of two points
    shown = _texts(table, "best val/avg2_accuracy (%) at each point")[0].split("; ")
    chosen = [a for a in report.aggregates if _is_trial(a) and a.params == {"alpha": 0.4}]  # by the made-up runs
    assert len(shown) == len(chosen) == 2
    for said, trial in zip(shown, chosen, strict=True):
        ends = report.search_intervals[trial.candidate]
        assert said == f"{100 * trial.mean:.2f} [{100 * ends.ci_low:.2f}, {100 * ends.ci_high:.2f}]"  # type: ignore[operator]


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


def test_a_trial_with_a_dead_seed_is_ranked_with_0_for_it_as_the_search_ranks_it(
    study: Study, results: Any, finished: Outcome, failed: Outcome
) -> None:
    """Without the confirmation: the second trial would be the best by the seeds that it has."""

    def outcome(run: Any) -> Any:
        if (run.trial, run.seed) == (1, 0):
            return failed(run)
        return replace(
            finished(run), metrics={"val/avg2_accuracy": {1: 0.9, 2: 0.8}.get(run.trial, 0.7) + run.seed / 99}
        )

    runs = [(run, result) for run, result in results(study, outcome) if run.stage == "search"]
    (table,) = search_tables(build_report(study, runs))
    # The mean of 0.8 and 0.8 + 1 / 99; the other has (0 + 0.91) / 2.
    assert {text.split(" [")[0] for text in table.rows[0][2].text.split("; ")} == {"80.51"}


def test_every_arm_has_what_it_was_given(report: Report) -> None:
    (table,) = spent_tables(report)
    assert [[cell.text for cell in row][:4] for row in table.rows] == [
        ["cross_entropy", "1", "0", "10"],
        ["avgk", "4", "16", "10"],
        ["noised", "1", "0", "10"],
    ]


def test_dead_runs_have_a_table_and_machines_failures_are_not_the_arms(
    study: Study, results: Any, finished: Outcome, failed: Any
) -> None:
    def outcome(run: Any) -> Any:
        if run.arm != "noised" or run.seed > 102:
            return finished(run)
        return failed(run) if run.seed == 100 else replace(failed(run), status="failed", cause="memory")

    (table,) = divergence_tables(build_report(study, results(study, outcome)))
    # Per point 1 seed diverged, 2 ran out of memory and 2 went well. Clopper and Pearson for 2 of 6: 4.3 to 77.7 %.
    assert [cell.text for cell in table.rows[0]] == ["noised", "confirm", "2 of 6", "33.3 [4.3, 77.7]", "4"]
    assert len(table.rows) == 1


def test_without_dead_runs_there_is_no_table_of_them(report: Report) -> None:
    assert divergence_tables(report) == []
