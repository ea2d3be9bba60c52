"""Which metrics a study has in MLflow."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.records.mlflow_pages.metrics import aggregate_metrics, curve_metrics, has_band, run_metrics


@pytest.mark.parametrize(
    ("metric", "band"),
    [
        ("val/avg2_accuracy", True),
        ("val/macro_avg2_accuracy", False),
        ("train/loss", True),
        ("a user's own", True),
        ("val/macro_avg2_accuracy_few", False),
        ("val/avg2_set_size", False),
        ("val/classes_present", False),
    ],
)
def test_accuracies_and_losses_alone_are_drawn_by_epoch(metric: str, band: bool) -> None:
    assert has_band(metric) is band


def test_the_curves_are_the_loss_and_the_plain_accuracies_on_validation(make_study: Any) -> None:
    assert curve_metrics(make_study(k=(2,))) == ["train/loss", "val/top2_accuracy", "val/avg2_accuracy"]


def test_a_run_has_every_metric_on_both_splits_once(make_study: Any) -> None:
    # Of a k on a split: 4 accuracies, 2 macro ones for each of 3 groups, a set size: 11; the number of classes: 1.
    names = run_metrics(make_study(k=(2, 3)))
    assert len(names) == len(set(names)) == 1 + 2 * (2 * 11 + 1)
    assert {name.partition("/")[0] for name in names} == {"train", "val", "test"}


def test_only_a_confirmation_has_statistics_of_the_test_split(make_study: Any) -> None:
    study = make_study(k=(2,))
    search, confirmed = aggregate_metrics(study, "search"), aggregate_metrics(study, "confirm")
    assert not any(name.startswith("test/") for name in search)
    assert "test/avg2_accuracy/ci_low" in confirmed
    assert set(search) < set(confirmed)
    assert len(confirmed) == 5 * len(run_metrics(study))
