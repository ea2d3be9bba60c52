"""What a result looks like in MLflow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from statistics import mean
from typing import Any

import pytest

from setsweep.sweeps.records.mlflow_pages import rows
from setsweep.sweeps.records.mlflow_pages.metrics import STATISTICS
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

    by_name = {name: [row for row in found if row.name == f"val/top2_accuracy/{name}"] for name in STATISTICS}
    assert {name: [row.step for row in of_name] for name, of_name in by_name.items()} == {
        "mean": [1, 2, 3, 3],
        "ci_low": [1, 2, 3, 3],
        "ci_high": [1, 2, 3, 3],
        "std": [0],  # final alone: nobody looks at their curves
        "n": [0],
    }
    for epoch in range(3):
        expected = mean(result.curves["val/top2_accuracy"][epoch] for _, result in pairs)
        assert by_name["mean"][epoch].value == float(f"{expected:.6g}")
    final = by_name["mean"][3]
    assert final.value == float(f"{mean(result.metrics['val/top2_accuracy'] for _, result in pairs):.6g}")
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


def test_what_has_no_curve_is_at_step_0_of_which_mlflow_draws_a_bar(make_pair: Callable[..., Any]) -> None:
    pairs = [make_pair("focal", 0.0, seed) for seed in (10, 11)]
    of_run = [row.step for row in rows.run_rows(pairs[0][1]) if row.name == "test/top2_accuracy"]
    found = rows.aggregate_rows(pairs, confidence=0.95, time=1)
    assert of_run == [0]
    assert {row.step for row in found if row.name.startswith("test/")} == {0}


def test_an_aggregates_text_columns_are_in_percent_with_two_decimals(
    make_pair: Callable[..., Any], study: Study
) -> None:
    values = (0.93, 0.94, 0.95)  # t(0.975, 2) = 4.303, s = 0.01: 4.303 * 0.01 / sqrt(3) = 0.0248
    pairs = [make_pair("focal", 0.2, seed) for seed in (10, 11, 12)]
    pairs = [
        (planned, replace(result, metrics={"test/top2_accuracy": value, "test/avg2_set_size": 2.0}))
        for (planned, result), value in zip(pairs, values, strict=True)
    ]

    whole = rows.aggregate_content(study, pairs, None, "")
    so_far = rows.aggregate_content(study, pairs, 5, "")

    assert (whole["top-2"], whole["avg-2 size"], whole["runs"]) == ("94.00 ± 2.48", "2.00 ± 0.00", "3 of 3")
    assert whole["mlflow.note.content"] == "top-2 94.00 ± 2.48 %; 3 of 3 seeds"
    assert so_far["runs"] == "3 of 5"


def test_aggregates_are_in_the_order_of_the_points_and_there_the_best_is_first(
    make_pair: Callable[..., Any], study: Study
) -> None:
    def order(noise: float, accuracy: float) -> str:
        planned, result = make_pair("focal", noise, 10)
        metrics = {"test/top2_accuracy": accuracy}
        return rows.aggregate_content(study, [(planned, replace(result, metrics=metrics))], None, "")[rows.ORDER]

    expected = [order(0.0, 0.9), order(0.0, 0.8), order(0.0, 0.0), order(0.2, 1.0), order(0.2, 0.9)]
    assert sorted(expected) == expected


def test_seeds_share_their_group_key_and_other_configurations_do_not(make_pair: Callable[..., Any]) -> None:
    keys = [rows.group_key(make_pair(*place)[0]) for place in (("focal", 0.0, 1), ("focal", 0.0, 2), ("focal", 0.2, 1))]
    assert keys[0] == keys[1] != keys[2]


def test_names_have_no_more_digits_than_they_need(make_pair: Callable[..., Any]) -> None:
    assert rows.run_name(make_pair("focal", 0.2, 10)[0]) == "focal label_noise=0.2 seed 10"
    planned, _ = make_pair("focal", 90.0, 10)
    assert rows.aggregate_name(planned) == "focal label_noise=90"


@pytest.mark.parametrize("limit", [60, 100])
def test_long_texts_are_cut_at_a_line_and_say_so(limit: int) -> None:
    short = rows.shorten("a line of text\n" * 50, limit)
    assert len(short) <= limit
    assert short.startswith("a line of text\n" if limit == 100 else "a line of text")
    assert short.endswith("(Shortened to what MLflow takes here.)")
