from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.comparisons import difference_tables, over_sets_tables, primary_tables
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm, Study

Outcome = Callable[[Any], Any]


def _texts(table: Table, heading: str) -> list[str]:
    return [row[table.header.index(heading)].text for row in table.rows]


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

    study = make_study(grid={}, search=None, compare=Compare(baseline="cross_entropy", metrics=("test/top2_accuracy",)))
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


def test_what_is_exploratory_has_its_own_p_in_brackets(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        """The primary metric goes up and down, the others are better by two points."""
        metrics = dict(finished(run).metrics)
        metrics["test/avg2_accuracy"] = 0.9 + 0.1 * (-1) ** (run.seed + len(run.arm))
        return replace(finished(run), metrics=metrics)

    table = difference_tables(build_report(study, results(study, outcome)))[0]
    assert _texts(table, "p")[0] == "(<0.001)"
    assert not any("(" in row[table.header.index("Δ avg-2 (points)") + 1].text for row in table.rows)


def test_further_pairs_have_rows_of_their_own(make_study: Any, results: Any) -> None:
    study = make_study(grid={}, compare=Compare(baseline="cross_entropy", pairs=(("avgk", "noised"),)))
    report = build_report(study, results(study))
    assert _texts(difference_tables(report)[0], "arm") == ["avgk", "noised", "avgk - noised"]
    assert _texts(primary_tables(report)[0], "arm") == ["avgk", "noised", "avgk - noised"]


def test_the_primary_metric_is_shown_closer(report: Report) -> None:
    (table,) = primary_tables(report)
    assert table.title == "Closer: avg-2 (%)"
    assert table.header == (
        "arm",
        "at",
        "Δ avg-2 (points)",
        "together 95 %",
        "corrected p",
        "g_z",
        "better on a seed (%)",
        "detectable",
        "n",
    )
    assert _texts(table, "at")[:2] == ["data.label_noise = 0", "data.label_noise = 0.2"]
    first, details = next((c, c.details) for c in report.comparisons if c.details)
    assert details.detectable is not None
    assert _texts(table, "detectable")[0] == f"{100 * details.detectable:.2f}"
    assert _texts(table, "corrected p")[0] == "<0.001*"
    assert first.arm == _texts(table, "arm")[0]


def test_equality_has_a_column_where_it_is_asked_for(make_study: Any, results: Any) -> None:
    study = make_study(grid={}, compare=Compare(baseline="cross_entropy", equivalent=1.0))
    (table,) = primary_tables(build_report(study, results(study)))
    # In the made-up results avgk is 2 points better and the other arm 0.4.
    assert [text.endswith("*") for text in _texts(table, "p of |Δ| >= 1")] == [False, True]


def test_arms_at_their_own_k_say_at_which_metric(make_study: Any, results: Any) -> None:
    arms = {name: Arm(name=name, loss="x", fixed={"loss.k": k}) for name, k in {"two": 2, "three": 3}.items()}
    arms["cross_entropy"] = Arm(name="cross_entropy", loss="x")
    study = make_study(arms=arms, grid={}, search=None, compare=Compare(baseline="cross_entropy", k="own"))
    (table,) = primary_tables(build_report(study, results(study)))
    assert table.title == "Closer: each arm at its own k"
    assert _texts(table, "metric") == ["avg-2 (%)", "avg-3 (%)"]


def test_two_seeds_have_no_closer_look(make_study: Any, results: Any) -> None:
    study = make_study(confirm_seeds=(100, 101))
    assert primary_tables(build_report(study, results(study))) == []


def test_several_data_sets_have_a_table_over_them(make_study: Any, results: Any) -> None:
    study = make_study(grid={"data.name": ("digits", "circle", "fashion_mnist")})
    report = build_report(study, results(study))
    (table,) = over_sets_tables(report)
    assert table.title == "Differences over 3 data sets"
    assert table.header == ("arm", "metric", "mean Δ", "95 %", "corrected p", "sd between sets")
    own = [c.difference for c in report.comparisons if c.arm == "avgk" and c.role == "primary"]
    assert _texts(table, "mean Δ")[0] == f"{100 * sum(own) / 3:+.2f}"
    assert over_sets_tables(build_report(make_study(), [])) == []
