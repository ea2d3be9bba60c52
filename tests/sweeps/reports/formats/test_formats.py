from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from setsweep.sweeps.reports.formats import FORMATS, render
from setsweep.sweeps.reports.formats.latex import escape_latex
from setsweep.sweeps.reports.formats.terminal import text as terminal
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.study import Arm, Compare


@pytest.fixture
def report(study: Any, results: Any) -> Report:
    return build_report(study, results(study))


@pytest.fixture
def wounded(study: Any, results: Any, finished: Any, failed: Any) -> Report:
    """A report with a dead seed in the confirmation and one in the search."""

    def outcome(run: Any) -> Any:
        if (run.arm, run.seed) == ("noised", 101):
            return failed(run, "CUDA | out_of_memory\nand a trace")
        return failed(run) if (run.trial, run.seed) == (3, 1) else finished(run)

    return build_report(study, results(study, outcome))


def pipe_rows(text: str) -> list[list[str]]:
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("form", FORMATS)
def test_equal_results_give_equal_text_whatever_their_order(study: Any, results: Any, form: str) -> None:
    runs = results(study)
    assert render(build_report(study, runs), form) == render(build_report(study, runs[::-1]), form)


@pytest.mark.parametrize("form", FORMATS)
def test_a_study_without_any_run_can_be_shown(study: Any, form: str) -> None:
    assert render(build_report(study, []), form).strip()


def test_an_unknown_format_is_refused_with_the_known_ones(report: Report) -> None:
    with pytest.raises(ValueError, match="format must be one of csv, html, json"):
        render(report, "pdf")


def test_json_has_the_fields_that_are_promised(report: Report) -> None:
    plain = json.loads(render(report, "json"))
    assert plain["study"] == "fashion_losses"
    promised = {
        "arm",
        "point",
        "params",
        "stage",
        "metric",
        "mean",
        "ci_low",
        "ci_high",
        "std",
        "n",
        "failed",
        "values",
    }
    assert all(promised <= aggregate.keys() for aggregate in plain["aggregates"])
    tested = {"arm", "baseline", "point", "metric", "difference", "ci_low", "ci_high", "p", "p_corrected", "n"}
    assert all(tested == comparison.keys() for comparison in plain["comparisons"])


def test_json_gives_back_every_aggregate_to_the_last_bit(wounded: Report) -> None:
    plain = json.loads(render(wounded, "json"))["aggregates"]
    assert len(plain) == len(wounded.aggregates)
    for read, aggregate in zip(plain, wounded.aggregates, strict=True):
        seeds = {name: {int(seed): value for seed, value in read[name].items()} for name in ("values", "failed")}
        own = {name: value for name, value in vars(aggregate).items() if name != "candidate"}
        assert own | aggregate.candidate.plain() == {**read, **seeds, "seeds": tuple(read["seeds"])}


def test_json_holds_the_search_and_the_confirmation(report: Report) -> None:
    assert {a["stage"] for a in json.loads(render(report, "json"))["aggregates"]} == {"search", "confirm"}


def test_json_has_null_where_a_number_is_undefined(study: Any, results: Any, finished: Any) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/top2_accuracy_few": math.nan})

    text = render(build_report(study, results(study, outcome)), "json")
    plain = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    few = [a for a in plain["aggregates"] if a["metric"] == "test/top2_accuracy_few"]
    assert {a["mean"] for a in few} == {None}


def test_csv_has_a_row_per_aggregate_and_a_column_per_hyperparameter(wounded: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(render(wounded, "csv"))))
    assert len(rows) == len(wounded.aggregates)
    for row, aggregate in zip(rows, wounded.aggregates, strict=True):
        assert float(row["mean"]) == aggregate.mean
        assert row["params.alpha"] == str(aggregate.params.get("alpha", ""))
        assert float(row["point.data.label_noise"]) == aggregate.point["data.label_noise"]


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_heading(wounded: Report) -> None:
    for table in re.split(r"\n\n", render(wounded, "markdown")):
        rows = pipe_rows(table)
        assert len({len(row) for row in rows}) <= 1


def test_pipes_in_names_do_not_break_a_markdown_table(make_study: Any, results: Any) -> None:
    odd = make_study(arms={"a|b": Arm(name="a|b", loss="x")}, compare=Compare(), search=None)
    rows = pipe_rows(render(build_report(odd, results(odd)), "markdown"))
    assert len({len(row) for row in rows}) == 1


def test_a_mean_is_shown_in_percent_with_its_half_width(report: Report) -> None:
    (mean,) = (
        a
        for a in report.aggregates
        if (a.arm, a.metric) == ("avgk", "test/top2_accuracy") and not any(a.point.values())
    )
    assert mean.mean is not None
    assert mean.ci_high is not None
    shown = f"{100 * mean.mean:.2f} ± {100 * (mean.ci_high - mean.mean):.2f}"
    assert shown in render(report, "markdown")


def test_the_best_accuracy_of_a_column_stands_out(report: Report) -> None:
    results_table = render(report, "markdown").split("## ")[1]
    strong = [line for line in results_table.splitlines() if "**" in line]
    assert len(strong) == 1
    assert strong[0].startswith("| avgk |")


def test_significant_differences_are_marked(report: Report) -> None:
    rows = [row for row in pipe_rows(render(report, "markdown")) if row[0].strip() == "avgk" and "&lt;0.001" in row[2]]
    assert len(rows) == 2
    assert all(row[2].strip() == r"&lt;0.001\*" for row in rows)


def test_a_dead_seed_is_told_with_its_reason_and_in_n(wounded: Report) -> None:
    text = terminal(wounded, width=200, colour=False)
    assert "4 of 5" in text
    assert "noised, data.label_noise = 0, seed 101 (CUDA | out_of_memory)" in text
    assert "trace" not in text


def test_the_sentences_say_what_the_numbers_are(report: Report) -> None:
    text = terminal(report, width=1000, colour=False)
    assert "95 % Student-t interval" in text
    assert "fresh confirmation seeds 100-104 alone" in text
    assert "Holm-corrected over the study's 16 comparisons; * marks p < 0.05" in text


def test_an_unfinished_confirmation_is_told(study: Any, results: Any, finished: Any) -> None:
    runs = results(study, lambda run: None if (run.arm, run.seed) == ("avgk", 104) else finished(run))
    text = terminal(build_report(study, runs), width=200, colour=False)
    assert "Incomplete. 46 runs: 44 done, 2 waiting. The confirmation of avgk is not finished" in text


def test_macro_averages_are_shown_only_where_they_differ(study: Any, results: Any, finished: Any) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/macro_top3_accuracy": 0.5})

    assert "macro" not in render(build_report(study, results(study)), "markdown")
    text = render(build_report(study, results(study, outcome)), "markdown")
    assert "macro top-3 (%)" in text
    assert "macro top-2 (%)" not in text


@pytest.mark.parametrize("width", [60, 80, 120, 250])
def test_a_terminal_table_keeps_to_the_width_and_loses_no_number(wounded: Report, width: int) -> None:
    text = terminal(wounded, width=width, colour=False)
    assert max(map(len, text.splitlines())) <= width
    wide = terminal(wounded, width=1000, colour=False)
    pattern = r"\d+\.\d\d ± \d+\.\d\d"
    assert sorted(re.findall(pattern, re.sub(r"\s+", " ", text))) == sorted(re.findall(pattern, wide))


def test_a_terminal_gets_colours_and_a_file_does_not(report: Report) -> None:
    assert "\x1b[" in terminal(report, width=100, colour=True)
    assert "\x1b[" not in terminal(report, width=100, colour=False)
    assert "\x1b[" not in render(report, "terminal")  # under a test the output is not a terminal


def test_brackets_in_names_are_text_in_a_terminal(make_study: Any, results: Any) -> None:
    odd = make_study(arms={"[red]x": Arm(name="[red]x", loss="x")}, compare=Compare(), search=None)
    assert "[red]x" in terminal(build_report(odd, results(odd)), width=120, colour=False)


def test_latex_escapes_what_latex_gives_a_meaning() -> None:
    assert escape_latex(r"a_b & 5% {x} #1 $ ^ ~ \ ± <") == (
        r"a\_b \& 5\% \{x\} \#1 \$ \textasciicircum{} \textasciitilde{} \textbackslash{} $\pm$ $<$"
    )


def test_latex_has_equal_rows_and_no_bare_special_character(wounded: Report) -> None:
    text = render(wounded, "latex")
    for body in re.findall(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL):
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    without_first_line = text.split("\n", 1)[1]
    assert not re.search(r"(?<!\\)[_%#]", without_first_line)
    assert text.isascii()


def test_html_is_well_formed_and_needs_no_other_file(make_study: Any, results: Any) -> None:
    odd = make_study(name="<b>&", arms={"<i>": Arm(name="<i>", loss="x")}, compare=Compare(), search=None)
    text = render(build_report(odd, results(odd)), "html")
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            assert not any(name in ("src", "href") for name, _ in attrs)
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Checker().feed(text)
    assert open_tags == []
    assert "&lt;i&gt;" in text


def test_what_reading_the_study_has_changed_is_told(make_study: Any, results: Any) -> None:
    changed = make_study(notes=("Milestones after the last epoch are left out.",))
    assert "Milestones after the last epoch are left out." in render(
        build_report(changed, results(changed)), "markdown"
    )
