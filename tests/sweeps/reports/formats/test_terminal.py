"""A report for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.formats.terminal import blocks_text, text
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.comparisons import primary_tables
from setsweep.sweeps.reports.tables.report_tables import all_tables
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm


def _headings(shown: str) -> list[list[str]]:
    """Those of every part of a table."""
    return [_cells(line) for line in shown.splitlines() if line.startswith("arm ")]


def _cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


@pytest.mark.parametrize("width", [60, 80, 100, 120, 250])
def test_a_table_keeps_to_the_width_and_loses_nothing(wounded: Report, width: int) -> None:
    shown = text(wounded, width=width, colour=False)
    assert max(map(len, shown.splitlines())) <= width
    tables = all_tables(wounded)
    named = {name for table in tables for name in table.header[: table.naming]}
    assert [name for heading in _headings(shown) for name in heading if name not in named] == [
        name for table in tables for name in table.header if name not in named
    ]
    arms = tuple(f"{arm} " for arm in wounded.study.arms)
    rows = [_cells(line) for line in shown.partition("\n±")[0].splitlines() if line.startswith(arms)]
    repeated = {cell.text for table in tables for row in table.rows for cell in row[: table.naming]}
    cells = [cell.text for table in tables for row in table.rows for cell in row if cell.text not in repeated]
    assert Counter(cell for row in rows for cell in row if cell not in repeated) == Counter(cells)


def _closer(report: Report, width: int) -> list[list[str]]:
    """The headings of the parts of the table of the primary metric."""
    return _headings(blocks_text("", "", primary_tables(report), width=width, colour=False))


def test_every_part_of_a_table_names_its_rows_by_all_that_tells_them_apart(report: Report) -> None:
    parts = _closer(report, 80)
    assert len(parts) > 1
    assert all(heading[:2] == ["arm", "at"] for heading in parts)


def test_where_names_leave_no_room_for_a_column_the_first_one_is_repeated(report: Report) -> None:
    first, *others = _closer(report, 45)
    assert first[:2] == ["arm", "at"]
    assert others
    assert all(heading[0] == "arm" and "at" not in heading for heading in others)


def test_a_table_that_fits_to_the_last_column_is_in_one_part(report: Report) -> None:
    lines = text(report, width=1000, colour=False).splitlines()
    needed = max(len(line) for line in lines if line.startswith("─"))
    for width, whole in ((needed, True), (needed - 1, False)):
        assert (len(_headings(text(report, width=width, colour=False))) == len(all_tables(report))) == whole


def test_no_part_of_a_table_has_the_number_of_runs_alone(report: Report) -> None:
    needed = max(map(len, text(report, width=1000, colour=False).splitlines()))
    parts = [heading for width in range(60, needed, 2) for heading in _closer(report, width)]
    assert any("n" in heading for heading in parts)
    assert all(set(heading) - {"arm", "at", "n"} for heading in parts)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_p_value_stands_beside_what_it_tests(report: Report, width: int) -> None:
    for names in _headings(text(report, width=width, colour=False)):
        tested = [name for name in names[1:] if name not in ("n", "p")]
        if "p" in names:
            assert names[1:][: 2 * len(tested)] == [name for heading in tested for name in (heading, "p")]


def test_a_long_cell_is_folded_where_there_is_no_room(make_study: Any, results: Any) -> None:
    fixed = {f"loss.setting_{number}": number for number in range(9)}
    study = make_study(arms={"a": Arm(name="a", loss="x", fixed=fixed)}, grid={}, search=None, compare=Compare())
    report = build_report(study, results(study))
    settings = ", ".join(f"setting_{number} = {number}" for number in range(9))
    assert settings in text(report, width=1000, colour=False)
    narrow = text(report, width=60, colour=False)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "".join(settings.split()) in "".join(narrow.split())


def test_a_terminal_gets_colours_and_a_file_does_not(report: Report) -> None:
    assert "\x1b[" in text(report, width=100, colour=True)
    assert "\x1b[" not in text(report, width=100, colour=False)
    assert "\x1b[" not in render(report, "terminal")  # under a test the output is not a terminal


def test_without_a_width_it_is_that_of_the_terminal(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    assert text(report) == text(report, width=77, colour=False)


def test_lines_end_with_their_last_character_and_the_text_with_a_line(report: Report) -> None:
    shown = text(report, width=100, colour=False)
    assert all(line == line.rstrip() for line in shown.splitlines())
    assert shown.endswith(".\n")


def test_name_question_and_state_come_first(report: Report, make_study: Any) -> None:
    shown = text(report, width=120, colour=False)
    assert shown.splitlines()[:2] == ["fashion_losses: Which loss gives the best pairs?", "Complete. 46 runs: 46 done."]
    unasked = text(build_report(make_study(about=""), []), width=120, colour=False)
    assert unasked.splitlines()[0] == "fashion_losses"


def test_brackets_in_names_and_reasons_are_text(make_study: Any, results: Any, failed: Any) -> None:
    odd = make_study(arms={"[red]x": Arm(name="[red]x", loss="x")}, compare=Compare(), search=None)
    shown = text(build_report(odd, results(odd, lambda run: failed(run, "[enforce fail]"))), width=500, colour=False)
    assert "\n[red]x " in shown
    assert "seed 100 ([enforce fail])" in shown
