from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.reports.report_folder import write_report
from setsweep.sweeps.reports.sensitivity.render import FORMATS, render_sensitivity, write_sensitivity
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity


@pytest.fixture
def found(reported: Any, grid: Any) -> Any:
    return build_sensitivity(reported(**grid))


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_holds_the_best_value_and_equal_results_give_equal_text(found: Any, form: str) -> None:
    text = render_sensitivity(found, form)
    assert "1.78" in text
    assert text == render_sensitivity(found, form)


def test_another_format_is_refused(found: Any) -> None:
    with pytest.raises(ValueError, match="format must be one of terminal, markdown, json, csv, html, got 'latex'"):
        render_sensitivity(found, "latex")


def test_json_has_scores_bands_plateau_shares_and_sentences(found: Any) -> None:
    plain = json.loads(render_sensitivity(found, "json"))
    (design,) = plain["designs"]
    (alpha,) = design["hyperparameters"]
    assert (plain["metric"], plain["seeds"], plain["at"]) == ("test/avg2_accuracy", [0, 1, 2, 3, 4], "chosen")
    assert (alpha["name"], alpha["scale"], alpha["default"]) == ("alpha", "log", 1.0)
    assert len(alpha["curve"]["whole"]["low"]) == len(design["configurations"]) == 9
    assert (alpha["plateau"]["low"], alpha["plateau"]["high"]) == (1.0, 3.16)
    assert sum(row["share"] for row in design["shares"]["rows"]) == pytest.approx(1)
    assert any("can't be told from the best" in sentence for sentence in plain["sentences"])


def test_csv_has_a_row_a_configuration(found: Any) -> None:
    rows = [*csv.DictReader(io.StringIO(render_sensitivity(found, "csv")))]
    assert [float(row["params.alpha"]) for row in rows] == [0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0]
    assert [row["as_good_as_best"] for row in rows].count("True") == 3
    assert len(json.loads(rows[0]["values"])) == 5
    for row in rows:
        assert float(row["whole_low"]) < float(row["shape_low"]) < float(row["mean"]) < float(row["whole_high"])


def test_a_folder_has_every_format_and_the_pictures(found: Any, tmp_path: Path) -> None:
    files = {path.name for path in write_sensitivity(found, tmp_path / "out")}
    named = {"sensitivity.md", "sensitivity.json", "sensitivity.csv", "sensitivity.html", "design-1.png"}
    assert files == named == {path.name for path in (tmp_path / "out").iterdir()}
    assert "data:image/webp;base64," in (tmp_path / "out" / "sensitivity.html").read_text()


def test_the_report_of_a_study_has_its_sensitivity_beside_it(reported: Any, grid: Any, tmp_path: Path) -> None:
    files = {path.name for path in write_report(reported(**grid), tmp_path)}
    assert {"report.html", "sensitivity.html", "design-1.png"} <= files
    assert "'setsweep sensitivity varied' prints it" in (tmp_path / "report.md").read_text()
