"""A report as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.formats.csv import comparisons, text
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study


def _rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(report))))


def test_the_first_line_names_the_columns(report: Report) -> None:
    assert text(report).splitlines()[0] == (
        "arm,point.data.label_noise,params.alpha,params.num_samples,stage,trial,metric,"
        "mean,ci_low,ci_high,std,n,planned,failed,values"
    )


def test_a_row_is_an_aggregate_to_the_last_bit(wounded: Report) -> None:
    rows = _rows(wounded)
    assert len(rows) == len(wounded.aggregates)
    for row, aggregate in zip(rows, wounded.aggregates, strict=True):
        assert (row["arm"], row["stage"], row["metric"]) == (aggregate.arm, aggregate.stage, aggregate.metric)
        assert row["trial"] == ("" if aggregate.trial is None else str(aggregate.trial))
        assert float(row["mean"]) == aggregate.mean
        assert int(row["n"]) == aggregate.n
        assert row["params.alpha"] == str(aggregate.params.get("alpha", ""))
        assert float(row["point.data.label_noise"]) == aggregate.point["data.label_noise"]
        assert {int(seed): value for seed, value in json.loads(row["values"]).items()} == aggregate.values


def test_seeds_that_failed_are_named_beside_those_planned(wounded: Report) -> None:
    (row,) = (
        row
        for row in _rows(wounded)
        if (row["arm"], row["metric"], row["point.data.label_noise"]) == ("noised", "test/avg2_accuracy", "0.0")
    )
    assert (row["n"], row["planned"]) == ("4", "5")
    assert json.loads(row["failed"]) == {"101": "CUDA | out_of_memory\nand a trace"}


def test_what_is_not_defined_is_empty(study: Study, results: Any, finished: Callable[[Any], Any]) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={"test/top2_accuracy_few": math.nan})

    row = _rows(build_report(study, results(study, outcome)))[0]
    assert [row[name] for name in ("mean", "ci_low", "ci_high", "std", "n")] == ["", "", "", "", "0"]


@pytest.mark.parametrize("grid", [{}, {"training.batch_size": (32, "full"), "model.width": (8,)}])
def test_every_key_of_the_grid_has_a_column(make_study: Any, results: Any, grid: dict[str, Any]) -> None:
    study = make_study(grid=grid)
    columns = _rows(build_report(study, results(study)))[0]
    assert [name for name in columns if name.startswith("point.")] == [f"point.{key}" for key in grid]


def test_a_difference_is_a_row_of_its_own_file_and_those_of_the_primary_metric_say_more(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(comparisons(report))))
    assert len(rows) == len(report.comparisons)
    for row, comparison in zip(rows, report.comparisons, strict=True):
        assert (row["arm"], row["metric"]) == (comparison.arm, comparison.metric)
        assert float(row["difference"]) == comparison.difference
        assert (row["effect"] == "") == (comparison.details is None)


def test_without_differences_there_is_a_heading_alone(make_study: Any, results: Any) -> None:
    study = make_study(compare=Compare())
    assert comparisons(build_report(study, results(study))) == "arm,baseline,metric\n"
