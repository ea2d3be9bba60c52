"""``setsweep papers``: every table and figure of the papers, and how it has come out in a storage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.commands.listings import papers
from setsweep.sweeps.study.reader import read_study

REPOSITORY = Path(__file__).parents[4]
PUBLISHED = """\
published:
  - {where: an older paper, metric: test/avg2_accuracy, values: {cross_entropy: [1.0, 0.1], avgk: 99}}
"""


def _of_the_papers() -> set[str]:
    """Every table and figure that is of runs, or that a script draws; counted in the texts."""
    noised = [*(f"table {n}" for n in range(2, 10)), *(f"figure {n}" for n in range(1, 7)), "appendix E"]
    preprint = [f"preprint, table {n}" for n in range(4, 8)]
    supplement = [*(f"supplement, table {n}" for n in range(1, 8)), "supplement, figure 1", "supplement, figure 2"]
    two_head = ["table 1", "table 2", "figure 4", *supplement]
    sawada = [*(f"figure {n}" for n in range(2, 7)), "table I"]
    papers = {"Garcin et al. 2022": [*noised, *preprint], "Garcin et al. 2023": two_head, "Sawada et al. 2020": sawada}
    return {f"{paper}, {name}" for paper, names in papers.items() for name in names}


def test_every_table_and_figure_is_repeated_by_something(setsweep: Any) -> None:
    rows = json.loads(setsweep("papers", "--json").out)
    assert {row["published"] for row in rows} == _of_the_papers()
    scripts = {row["study"].removeprefix("python ") for row in rows if row["runs"] is None}
    assert all((REPOSITORY / script).is_file() for script in scripts), scripts


def test_every_table_is_listed_with_its_studies_at_both_scales(setsweep: Any) -> None:
    """Three arms, five seeds, and five or two levels of noise."""
    shown = setsweep("papers")
    assert shown.code == 0
    (block,) = [each for each in shown.out.split("\n\n") if "preprint, table 4" in each]
    assert [line.split() for line in block.splitlines()[1:]] == [
        ["garcin2022-cifar100", "75", "-", "0", "15", "-", "-"],
        ["garcin2022-cifar100-small", "30", "-", "0", "6", "-", "-"],
    ]


def test_what_was_found_is_counted(setsweep: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write_text(small.read_text() + PUBLISHED)
    assert setsweep("run", small, "--in-process").code == 0
    monkeypatch.setattr(papers, "bundled_forms", lambda: [read_study(small)])
    [row] = [each for each in json.loads(setsweep("papers", "--json").out) if each["published"] == "an older paper"]
    assert (row["runs"], row["done"], row["numbers"], row["found"]) == (7, 7, 2, 2)
    assert 0 < row["hours"] < 1
    assert row["best"] in read_study(small).arms
    assert "Beside the published: an older paper" in setsweep("report", small).out


def test_hours_are_forecast_where_that_is_asked_for(
    setsweep: Any, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.write_text(small.read_text() + PUBLISHED)
    monkeypatch.setattr(papers, "bundled_forms", lambda: [read_study(small)])
    [row] = [each for each in json.loads(setsweep("papers", "--json", "--measure").out) if each["runs"]]
    assert (row["done"], row["hours"] > 0) == (0, True)
