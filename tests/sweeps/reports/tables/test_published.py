"""The tables and the figure that hold a study beside the numbers of a paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.reports.figures import write_figures
from setsweep.sweeps.reports.formats import FORMATS, render
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.reports.tables.published import printed, published_tables
from setsweep.sweeps.statistics.published import Beside, beside_published
from setsweep.sweeps.study.published import Published


def _published(**changes: Any) -> Published:
    fields: dict[str, Any] = {
        "where": "A. Author 2020, table 1",
        "arm": "avgk",
        "point": {},
        "metric": "test/avg2_accuracy",
        "mean": 0.9735,
        "spread": 0.0006,
        "kind": "ci",
        "seeds": 5,
    }
    return Published(**{**fields, **changes})


@pytest.fixture
def beside(report: Report) -> Report:
    """The report beside two tables: one of two arms at the first point, one of an arm that is not there yet."""
    point = report.study.points()[0]
    numbers = (
        _published(point=point, mean=0.5),
        _published(point=point, arm="cross_entropy", mean=0.94),
        _published(point=point, where="figure 2", metric="test/top9_accuracy"),
    )
    study = replace(report.study, published=numbers)
    return replace(report, study=study, published=tuple(beside_published(study, report.aggregates)))


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "97.35 ± 0.06"),
        ({"spread": None}, "97.35"),
        ({"kind": "sd", "mean": 0.9311, "spread": 0.0016}, "93.11 (sd 0.16)"),
        ({"metric": "test/avg5_set_size", "mean": 4.9, "spread": 0.03}, "4.90 ± 0.03"),
    ],
)
def test_a_number_is_shown_as_its_paper_prints_it(changes: dict[str, Any], shown: str) -> None:
    assert printed(Beside(published=_published(**changes))) == shown


def test_each_table_of_a_paper_has_a_table(beside: Report) -> None:
    first, second = published_tables(beside)
    assert first.title == "Beside the published: A. Author 2020, table 1"
    assert [row[0].text for row in first.rows] == ["avgk", "cross_entropy"]
    assert len(first.header) == len(first.rows[0])
    assert [cell.text for cell in second.rows[0]][-4:] == ["-", "0", "-", "-"]


def test_a_number_far_off_is_not_inside(beside: Report) -> None:
    row = [cell.text for cell in published_tables(beside)[0].rows[0]]
    assert row[-1] == "no"
    assert row[-2].startswith("+")


def test_a_study_without_published_numbers_has_no_such_table(report: Report) -> None:
    assert published_tables(report) == []


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_them(beside: Report, form: str) -> None:
    assert "A. Author 2020, table 1" in render(beside, form) or form == "csv"


def test_a_table_is_drawn_and_one_of_which_nothing_is_found_is_not(
    beside: Report, drawn: dict[str, Any], tmp_path: Path
) -> None:
    write_figures(beside, tmp_path)
    assert [name for name in drawn if name.startswith("published")] == ["published-1.png"]
    [axis] = drawn["published-1.png"].axes
    assert len(axis.get_yticklabels()) == 2
