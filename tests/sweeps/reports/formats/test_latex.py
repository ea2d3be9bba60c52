"""A report for LaTeX."""

from __future__ import annotations

import re

from setsweep.sweeps.reports.formats.latex import escape_latex, text
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.report_tables import all_tables


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
    assert columns == ["lrrrrrrrrl"] * 2 + ["lrrrrrrrrr"] * 2 + ["llrrrrrrr", "lrl", "llrrrrrr", "lrrr"]
    captions = re.findall(r"\\caption\{(.*)\}", shown)
    assert captions == [escape_latex(table.title) for table in all_tables(report)]
    assert shown.count(r"\begin{table}") == shown.count(r"\end{table}") == 8


def test_the_best_is_bold_and_the_sentences_follow(report: Report) -> None:
    shown = text(report)
    assert re.search(r"^avgk & \\textbf\{95\.\d\d \$\\pm\$ 0\.\d\d\} & ", shown, re.MULTILINE)
    assert not re.search(r"^noised & \\textbf", shown, re.MULTILINE)
    assert "\n\nComplete. 46 runs: 46 done.\n\n$\\pm$ is the half-width of the 95 \\% Student-t" in shown
