"""Which metrics a study has in MLflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from setsweep.sweeps.records.mlflow_pages.metrics import aggregate_metrics, curve_metrics, recorded, run_metrics
from setsweep.sweeps.study.study import Compare

PLAIN = ["train/loss", "val/top2_accuracy", "val/avg2_accuracy"]


def test_the_curves_are_the_loss_and_the_plain_accuracies_on_validation(make_study: Any) -> None:
    assert curve_metrics(make_study(k=(2,))) == PLAIN


def test_what_a_study_compares_or_searches_for_or_measures_itself_has_a_curve_as_well(make_study: Any) -> None:
    asked = ("test/macro_avg2_accuracy", "test/avg2_accuracy@top2_accuracy", "test/lac90_coverage")
    study = make_study(k=(2,), compare=Compare(metrics=asked), metrics=("package.module:own",))
    assert curve_metrics(study) == [*PLAIN, "val/macro_avg2_accuracy", "val/package.module:own"]


def test_groups_of_classes_and_set_sizes_have_no_curve(make_study: Any, make_pair: Callable[..., Any]) -> None:
    _, result = make_pair("focal", 0.0, 10)
    names = ("val/macro_top2_accuracy_few", "val/avg2_set_size", "val/classes_present", "val/top2_accuracy")
    result = replace(result, metrics=dict.fromkeys(names, 0.3), curves=dict.fromkeys(names, (0.1, 0.2, 0.3)))
    found = recorded(result, curve_metrics(make_study(k=(2,))))
    assert set(found.curves) == {"val/top2_accuracy"}
    assert set(found.metrics) == {*names} - {"val/classes_present"}  # of which every run has the same


def test_a_run_has_every_metric_on_both_splits_once(make_study: Any) -> None:
    # Of a k on a split: 4 accuracies, 2 macro ones for each of 3 groups, a set size: 11.
    names = run_metrics(make_study(k=(2, 3)))
    assert len(names) == len(set(names)) == 1 + 2 * 2 * 11
    assert {name.partition("/")[0] for name in names} == {"train", "val", "test"}


def test_only_a_confirmation_has_statistics_of_the_test_split(make_study: Any) -> None:
    study = make_study(k=(2,))
    search, confirmed = aggregate_metrics(study, "search"), aggregate_metrics(study, "confirm")
    assert not any(name.startswith("test/") for name in search)
    assert "test/avg2_accuracy/ci_low" in confirmed
    assert set(search) < set(confirmed)
    assert len(confirmed) == 5 * len(run_metrics(study))
