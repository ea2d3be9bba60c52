"""What a result looks like in MLflow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from statistics import mean
from typing import Any

import pytest

from setsweep.sweeps.records import mlflow_rows as rows
from setsweep.sweeps.study.study import Study


def test_the_recorder_is_imported_without_mlflow() -> None:
    program = "import sys, setsweep.sweeps.records.mlflow_recorder; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_run_has_a_row_for_each_epoch_and_its_final_value_comes_last(make_pair: Callable[..., Any]) -> None:
    _, result = make_pair("focal", 0.0, 10)
    curves = {"val/top2_accuracy": (0.5, 0.9, 0.7)}
    result = replace(result, curves=curves, metrics={"val/top2_accuracy": 0.9})

    accuracy = list(rows.run_rows(result))

    assert [(row.step, row.value) for row in accuracy] == [(1, 0.5), (2, 0.9), (3, 0.7), (3, 0.9)]
    assert max(accuracy, key=lambda row: (row.step, row.time)).value == 0.9
    assert all(result.started * 1000 <= row.time <= result.finished * 1000 for row in accuracy)


def test_a_final_value_that_its_curve_ends_with_is_not_written_twice(make_pair: Callable[..., Any]) -> None:
    _, result = make_pair("focal", 0.0, 10)
    result = replace(result, curves={"train/loss": (3.0, 2.0, 1.0)}, metrics={"train/loss": 1.0})
    assert len(list(rows.run_rows(result))) == 3


def test_an_aggregate_has_mean_interval_deviation_and_n_by_epoch_and_final(make_pair: Callable[..., Any]) -> None:
    pairs = [make_pair("focal", 0.0, seed) for seed in (10, 11, 12)]

    found = list(rows.aggregate_rows(pairs, confidence=0.95, time=1000))

    by_name = {name: [row for row in found if row.name == f"val/top2_accuracy/{name}"] for name in rows.STATISTICS}
    assert all([row.step for row in of_name] == [1, 2, 3, 3] for of_name in by_name.values())
    for epoch in range(3):
        expected = mean(result.curves["val/top2_accuracy"][epoch] for _, result in pairs)
        assert by_name["mean"][epoch].value == pytest.approx(expected, rel=1e-12)
    final = by_name["mean"][3]
    assert final.value == pytest.approx(mean(result.metrics["val/top2_accuracy"] for _, result in pairs), rel=1e-12)
    assert final.time > by_name["mean"][2].time


def test_a_run_that_failed_is_not_in_the_mean_but_counted_and_named(make_pair: Callable[..., Any]) -> None:
    pairs = [make_pair("focal", 0.0, 10), make_pair("focal", 0.0, 11), make_pair("focal", 0.0, 12, status="diverged")]

    tags = rows.content_tags(pairs)
    n = {row.value for row in rows.aggregate_rows(pairs, confidence=0.95, time=1) if row.name.endswith("accuracy/n")}

    assert n == {2}
    assert tags["failed"] == "1"
    assert tags["seeds"] == "10, 11, 12"
    assert tags["mlflow.note.content"] == (
        "- seed 12 gave no metrics: training loss must be finite, got nan in epoch 2.\n"
    )


def test_seeds_share_their_group_key_and_other_configurations_do_not(make_pair: Callable[..., Any]) -> None:
    keys = [rows.group_key(make_pair(*place)[0]) for place in (("focal", 0.0, 1), ("focal", 0.0, 2), ("focal", 0.2, 1))]
    assert keys[0] == keys[1] != keys[2]


def test_params_are_the_hyperparameters_and_the_grid_point(make_pair: Callable[..., Any], study: Study) -> None:
    planned, _ = make_pair("focal", 0.2, 10)
    assert rows.params(planned) == {"gamma": "2.0", "data.label_noise": "0.2"}
    assert rows.run_name(planned) == "focal label_noise=0.2 seed 10"


@pytest.mark.parametrize("limit", [60, 100])
def test_long_texts_are_cut_at_a_line_and_say_so(limit: int) -> None:
    short = rows.shorten("a line of text\n" * 50, limit)
    assert len(short) <= limit
    assert short.startswith("a line of text\n" if limit == 100 else "a line of text")
    assert short.endswith("(Shortened to what MLflow takes here.)")
