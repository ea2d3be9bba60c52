"""A report for LaTeX."""

from __future__ import annotations

import re

import pytest

from setsweep.sweeps.reports.formats.latex import WIDTH, escape_latex, split, text
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.reports.tables.table import Cell, Table


def test_what_latex_gives_a_meaning_is_escaped() -> None:
    assert escape_latex(r"a_b & 5% {x} #1 $ ^ ~ \ ± < > | Δ …") == (
        r"a\_b \& 5\% \{x\} \#1 \$ \textasciicircum{} \textasciitilde{} \textbackslash{} $\pm$ $<$ $>$ \textbar{} "
        r"$\Delta$ \dots{}"
    )


def test_rows_are_equal_and_no_special_character_is_bare(wounded: Report) -> None:
    shown = text(wounded)
    for body in re.findall(r"\\toprule(.*?)\\bottomrule", shown, re.DOTALL):
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    without_first_line = shown.split("\n", 1)[1]
    assert not re.search(r"(?<!\\)[_%#]", without_first_line)
    assert shown.isascii()


def test_every_table_is_an_environment_whose_columns_of_text_are_aligned_left(report: Report) -> None:
    shown = text(report)
    assert shown.startswith("% needs \\usepackage{booktabs}\n")
    columns = re.findall(r"\\begin\{tabular\}\{(\w+)\}", shown)
    pieces = [piece for table in all_tables(report) for piece in split(table)]
    assert columns == [
        "".join("l" if index in piece.text else "r" for index in range(len(piece.header))) for piece in pieces
    ]
    captions = re.findall(r"\\caption\{(.*)\}", shown)
    assert captions == [escape_latex(f"{report.study.name}: {piece.title}") for piece in pieces]
    assert shown.count(r"\begin{table}") == shown.count(r"\end{table}") == len(pieces)


def test_every_table_has_a_label_of_its_own_after_its_caption(report: Report) -> None:
    shown = text(report)
    labels = re.findall(r"\\caption\{.*\}\n\\label\{(tab:fashion-losses:[a-z0-9.=-]+)\}", shown)
    assert len(labels) == len(set(labels)) == shown.count(r"\begin{table}")


@pytest.mark.parametrize("text_columns", [(0,), (0, 1), (0, 9)])
def test_a_table_fits_on_a_page_and_what_names_its_rows_stands_in_every_part(text_columns: tuple[int, ...]) -> None:
    header = tuple(f"column {index}" for index in range(10))
    rows = tuple(tuple(Cell(f"{row} {index} {'x' * 10}") for index in range(10)) for row in range(3))
    parts = split(Table("Wide", header, rows, text_columns))
    assert [part.title for part in parts] == [f"Wide ({number} of {len(parts)})" for number in range(1, len(parts) + 1)]
    names = 2 if text_columns == (0, 1) else 1
    for part in parts:
        assert sum(2 + max(len(row[index].text) for row in part.rows) for index in range(len(part.header))) <= WIDTH
        assert part.header[:names] == header[:names]
        assert [part.header[index] for index in part.text] == [
            header[i] for i in text_columns if header[i] in part.header
        ]
    assert [each for part in parts for each in part.header[names:]] == list(header[names:])
    assert tuple(cell for part in parts for cell in part.rows[1][names:]) == rows[1][names:]


def test_a_table_that_fits_stays_whole_and_a_column_that_never_fits_is_alone() -> None:
    small = Table("Small", ("arm", "n"), ((Cell("avgk"), Cell("5")),))
    assert split(small) == [small]
    wide = Table("Wide", ("arm", "n", "params"), ((Cell("avgk"), Cell("5"), Cell("y" * 200)),))
    assert [part.header for part in split(wide)] == [("arm", "n"), ("arm", "params")]


def test_the_best_is_bold_and_the_sentences_follow(report: Report) -> None:
    shown = text(report)
    assert re.search(r"^avgk & \\textbf\{95\.\d\d \$\\pm\$ 0\.\d\d\} & ", shown, re.MULTILINE)
    assert not re.search(r"^noised & \\textbf", shown, re.MULTILINE)
    assert "\n\nComplete. 46 runs: 46 done.\n\n$\\pm$ is the half-width of the 95 \\% Student-t" in shown
