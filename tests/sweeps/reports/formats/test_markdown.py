"""A report as Markdown."""

from __future__ import annotations

import re
from typing import Any

from setsweep.sweeps.reports.formats.markdown import text
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm


def _pipe_rows(shown: str) -> list[list[str]]:
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in shown.splitlines() if line.startswith("|")]


def test_every_row_of_a_table_has_as_many_cells_as_its_heading(wounded: Report) -> None:
    for table in re.split(r"\n\n", text(wounded)):
        assert len({len(row) for row in _pipe_rows(table)}) <= 1


def test_pipes_in_names_do_not_break_a_table(make_study: Any, results: Any) -> None:
    odd = make_study(arms={"a|b": Arm(name="a|b", loss="x")}, compare=Compare(), search=None)
    rows = _pipe_rows(text(build_report(odd, results(odd))))
    assert len({len(row) for row in rows}) == 1
    assert rows[2][0].strip() == r"a\|b"


def test_name_question_and_state_stand_above_the_tables(report: Report, make_study: Any) -> None:
    assert text(report).split("\n\n")[:4] == [
        "# fashion_losses",
        "Which loss gives the best pairs?",
        "Complete. 46 runs: 46 done.",
        "## Test results, data.label_noise = 0",
    ]
    unasked = build_report(make_study(about=""), [])
    assert text(unasked).split("\n\n")[1].startswith("Incomplete. 0 runs: ")


def test_text_is_aligned_left_and_numbers_right(report: Report) -> None:
    header, rule, *_ = _pipe_rows(text(report))
    assert [name.strip() for name in header][-3:] == ["lowest avg-2 (%)", "n", "hyperparameters"]
    assert [each.strip() for each in rule] == ["---", *["---:"] * 8, "---"]


def test_the_best_is_bold_once_in_a_column(report: Report) -> None:
    strong = [line for line in text(report).split("## ")[1].splitlines() if "**" in line]
    assert len(strong) == 1
    assert strong[0].startswith("| avgk | **95.")


def test_what_markdown_or_html_gives_a_meaning_is_text(report: Report) -> None:
    rows = [row for row in _pipe_rows(text(report)) if row[0].strip() == "avgk" and "0.001" in row[2]]
    assert [row[2].strip() for row in rows] == [r"&lt;0.001\*"] * 2
    assert "; \\* marks p &lt; 0.05.\n" in text(report)
