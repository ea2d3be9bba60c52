"""Metrics that are read at the best epoch of another accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import value_at, with_values_at
from setsweep.trainables.evaluation.metric import Metric, accuracies, all_metrics
from setsweep.trainables.loop import train

RESULT = RunResult(
    key="x",
    status="done",
    metrics={"val/top1_accuracy": 0.9, "test/top1_accuracy": 0.8},
    best_epoch={"top1_accuracy": 4, "avg2_accuracy": 2},
    epochs=(2, 4),
    curves={"val/top1_accuracy": (0.7, 0.9), "val/avg2_accuracy": (0.6, 0.5), "train/loss": (2.0, 1.0)},
    tested={2: {"test/top1_accuracy": 0.65, "test/avg2_accuracy": 0.55}, 4: {"test/top1_accuracy": 0.8}},
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("test/top1_accuracy@avg2_accuracy", 0.65),
        ("val/top1_accuracy@avg2_accuracy", 0.7),
        ("train/loss@avg2_accuracy", 2.0),
        ("test/avg2_accuracy@top1_accuracy", None),  # not measured there
        ("test/top1_accuracy@avg3_accuracy", None),  # which is the best of no epoch
        ("test/top1_accuracy", None),
    ],
)
def test_a_metric_is_what_it_was_at_the_best_epoch_of_the_other(name: str, value: float | None) -> None:
    assert value_at(RESULT, name) == value


def test_those_asked_for_stand_beside_the_results_own_as_far_as_they_were_measured() -> None:
    asked = ["test/top1_accuracy@avg2_accuracy", "test/avg2_accuracy@top1_accuracy"]
    assert with_values_at(RESULT, asked).metrics == {**RESULT.metrics, asked[0]: 0.65}
    assert with_values_at(RESULT, []) is RESULT
    assert with_values_at(replace(RESULT, tested={}), asked[:1]).metrics == RESULT.metrics  # as older results are


def test_what_a_metric_is_at_the_best_epoch_of_its_own_is_what_the_run_reports(make_config: Any) -> None:
    result = train(make_config(training={"epochs": 6, "optimizer": {"lr": 3.0}}))
    assert len(result.tested) > 1  # else it could be any epoch
    assert set(result.tested) == set(result.best_epoch.values())
    for metric in all_metrics((1, 2)):
        for split in ("val", "test"):
            own = metric.on(split)
            if own.name in result.metrics:  # groups of classes are not, where there is one alone
                assert value_at(result, replace(own, at=metric.criterion).name) == result.metrics[own.name]
    everywhere = [replace(each.on("test"), at=at).name for each in accuracies((1, 2)) for at in accuracies((1, 2))]
    found = [value_at(result, name) for name in everywhere]
    assert None not in found
    assert len(set(found)) > len(accuracies((1, 2))) / 2


def test_results_go_through_json(make_config: Any) -> None:
    import json

    result = train(make_config())
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert Metric.parse("test/top1_accuracy@avg2_accuracy").at == Metric.parse("avg2_accuracy")
