"""The table of differences over test images, and what is said under it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.notes.report_notes import notes
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.images import image_tables
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.hits import Hits


def reported(study: Study, results: Any, finished: Any, *, without: tuple[str, ...] = ()) -> Report:
    """A report over test images; avgk has the first 90 of 100 images right, whatever the seed, and the others the
    first 80 and as many more as the last digit of their seed says."""

    def outcome(run: Any) -> Any:
        right = 90 if run.arm == "avgk" else 80 + run.seed % 10
        bits = {"avg2_accuracy": np.packbits(np.arange(100) < right).tobytes()}
        kept = run.stage == "confirm" and run.arm not in without
        result = finished(run)
        metrics = {**result.metrics, "test/avg2_accuracy": right / 100} if run.stage == "confirm" else result.metrics
        return replace(result, metrics=metrics, hits=Hits(100, "name", bits) if kept else None)

    own = replace(study, grid={}, compare=replace(study.compare, images=True))
    return build_report(own, results(own, outcome))


def test_both_intervals_stand_beside_mcnemars_tests(study: Study, results: Any, finished: Any) -> None:
    (table,) = image_tables(reported(study, results, finished))
    assert table.title == "Over test images: avg-2 (%)"
    assert table.header[-4:] == ("McNemar's p", "p < 0.05", "images", "n")
    avgk, noised = ([cell.text for cell in row] for row in table.rows)
    # 10, 9, 8, 7, 6 of 100 images: the mean is 8, sd 1.58, t(0.975, 4) = 2.776; p = 2^-9 to 2^-5, median 2^-7
    assert avgk[:2] == ["avgk", "+8.00 ± 1.96"]
    assert avgk[2].startswith("+8.00 ± 5.")  # sd of an image's mean difference 0.26, / 10 * 1.96 = 5.1 without the rest
    assert avgk[3:] == ["8", "0", "0.008 [0.002, 0.031]", "5 of 5", "100", "5"]
    assert noised[1:] == ["+0.00", "-", "0", "0", "1.000 [1.000, 1.000]", "0 of 5", "100", "5"]


def test_what_is_left_out_is_said_and_the_scope_is_told_as_it_is(study: Study, results: Any, finished: Any) -> None:
    whole, partly, none = (
        notes(reported(study, results, finished, without=without)) for without in ((), ("noised",), ("cross_entropy",))
    )
    old = "older than the record of hits)."
    assert any(note.startswith("Over seeds and images:") for note in whole)
    assert any(note.startswith("But for those over seeds and images, every interval") for note in whole)
    assert not any("Not compared over test images" in note for note in whole)
    assert any(note.startswith("Not compared over test images: noised (") and note.endswith(old) for note in partly)
    assert any(note.startswith("Not compared over test images: avgk; noised (") for note in none)
    assert any(note.startswith("Every interval and test is for one split") for note in none)
    assert image_tables(reported(study, results, finished, without=("cross_entropy",))) == []


def test_json_has_every_seeds_test(study: Study, results: Any, finished: Any) -> None:
    found = json.loads(render(reported(study, results, finished), "json"))["over_images"]
    assert [each["arm"] for each in found] == ["avgk", "noised"]
    assert found[0]["by_seed"]["104"] == {"better": 6, "worse": 0, "difference": 0.06, "p": 2**-5}
    assert found[0]["crossed"]["n"] == 5
