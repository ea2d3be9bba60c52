"""The sensitivity of a study as JSON and CSV: what a program reads."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.sensitivity.found import look_at
from setsweep.sweeps.reports.sensitivity.plain import csv_text, json_text

NAN = math.nan
ONE = [[0.50, 0.52, 0.51], [0.70, 0.73, 0.71], [0.60, 0.62, NAN]]
TWO = [[0.50, 0.51, 0.52], [0.70, 0.71, 0.72], [0.60, 0.61, 0.62], [0.70, 0.71, 0.73]]


def rows(found: Any) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(csv_text(found)))]


def test_what_is_no_number_is_null(tried: Any, nothing: Any) -> None:
    text = json_text(replace(nothing, searches=(look_at(tried(ONE), confidence=0.95),)))
    assert "NaN" not in text
    (found,) = json.loads(text)["searches"]
    last = found["configurations"][2]
    assert (last["params"], last["values"], last["failed"]) == ({"alpha": 10.0}, [0.6, 0.62, None], [0, 0, 1])
    assert found["hyperparameters"][0]["scale"] == "log"


def test_a_study_that_is_no_sensitivity_study_has_no_seeds_and_no_place(nothing: Any) -> None:
    plain = json.loads(json_text(nothing))
    assert (plain["seeds"], plain["at"], plain["designs"], plain["sentences"]) == ([], None, [], [])
    assert (plain["study"], plain["metric"], plain["confidence"]) == ("fashion_losses", "test/avg2_accuracy", 0.95)


def test_a_row_of_one_hyperparameter_has_its_bands_and_whether_it_is_as_good(tried: Any, nothing: Any) -> None:
    # 0.50, 0.52, 0.51: mean 0.51, s = 0.01, t(0.975, 2) = 4.303: 4.303 x 0.01 / sqrt(3) = 0.0248.
    found = rows(replace(nothing, designs=(look_at(tried(ONE, point={"x": 1}), confidence=0.95),)))
    first = found[0]
    assert (first["arm"], first["designed"], first["point.x"], first["params.alpha"]) == ("avgk", "True", "1", "0.1")
    assert abs(float(first["ci_high"]) - 0.5348) < 5e-5
    assert [row["as_good_as_best"] for row in found] == ["False", "True", "False"]
    assert (found[2]["n"], found[2]["failed"], json.loads(found[2]["values"])) == ("2", "1", {"0": 0.6, "1": 0.62})
    assert float(first["whole_low"]) < float(first["shape_low"]) < 0.51


def test_a_row_of_two_has_no_band_and_one_of_a_search_neither(tried: Any, nothing: Any) -> None:
    pairs = look_at(tried(TWO, alphas=(1.0, 10.0), sizes=(16, 64)), confidence=0.95)
    search = look_at(tried(ONE, designed=False), confidence=0.95)
    found = rows(replace(nothing, designs=(pairs,), searches=(search,)))
    assert "whole_low" not in found[0]
    assert [row["as_good_as_best"] for row in found] == ["False", "True", "False", "True", "", "", ""]
    assert [row["designed"] for row in found] == ["True"] * 4 + ["False"] * 3
    assert list(found[0])[:4] == ["arm", "designed", "params.alpha", "params.training.batch_size"]


def test_nothing_found_is_a_heading_without_columns(nothing: Any) -> None:
    assert csv_text(nothing) == "\n"
