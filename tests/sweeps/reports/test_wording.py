"""How numbers and names are put into words."""

from __future__ import annotations

import pytest

from setsweep.sweeps.reports.wording import (
    half_open,
    long_metric_label,
    metric_label,
    number,
    p_value,
    seeds,
    settings,
    with_half_width,
)


@pytest.mark.parametrize(
    ("metric", "short", "long"),
    [
        ("test/avg2_accuracy", "avg-2 (%)", "test average-2 accuracy (%)"),
        ("test/avg10_set_size", "avg-10 size (labels)", "test average-10 set size (labels)"),
        ("val/macro_top5_accuracy", "macro top-5 (%)", "val macro top-5 accuracy (%)"),
        ("test/macro_top5_accuracy_few", "macro top-5 few (%)", "test macro top-5 few accuracy (%)"),
        (
            "test/top1_accuracy@macro_avg5_accuracy",
            "top-1 at best macro avg-5 (%)",
            "test top-1 accuracy at the best macro avg-5 (%)",
        ),
        (
            "test/macro_top5_accuracy_few@avg5_accuracy",
            "macro top-5 few at best avg-5 (%)",
            "test macro top-5 few accuracy at the best avg-5 (%)",
        ),
        ("train/loss", "train/loss", "train/loss"),
        ("test/lac90_coverage", "lac-90 coverage (%)", "test lac-90 coverage (%)"),
        ("test/lac99.5_set_size_p50", "lac-99.5 size p50 (labels)", "test lac-99.5 set size p50 (labels)"),
        (
            "test/macro_classwise_aps95_coverage_few@avg5_accuracy",
            "macro classwise aps-95 coverage few at best avg-5 (%)",
            "test macro classwise aps-95 few coverage at the best avg-5 (%)",
        ),
        ("test/pas90_classes_below_half", "pas-90 classes below half (%)", "test pas-90 classes below half (%)"),
    ],
)
def test_metrics_are_named_with_their_unit(metric: str, short: str, long: str) -> None:
    assert metric_label(metric) == short
    assert long_metric_label(metric) == long


def test_accuracies_are_in_percent_and_set_sizes_in_labels() -> None:
    assert with_half_width("test/top2_accuracy", 0.9352, 0.9311, 0.9393) == "93.52 ± 0.41"
    assert with_half_width("test/avg2_set_size", 2.0, 1.9, 2.1) == "2.00 ± 0.10"
    assert number("train/loss", 0.123456) == "0.1235"
    assert with_half_width("test/lac90_coverage", 0.9, 0.89, 0.91) == "90.00 ± 1.00"
    assert with_half_width("test/lac90_set_size", 2.0, 1.9, 2.1) == "2.00 ± 0.10"


def test_what_is_not_defined_is_a_dash_and_what_has_no_interval_stands_alone() -> None:
    assert with_half_width("test/top2_accuracy", None, None, None) == "-"
    assert with_half_width("test/top2_accuracy", 0.5, None, None) == "50.00"
    assert p_value(None) == "-"


def test_an_interval_beyond_0_or_100_percent_is_cut_and_given_by_its_ends() -> None:
    assert with_half_width("test/top2_accuracy", 0.998, 0.9941, 1.0019) == "99.80 [99.41, 100]"
    assert with_half_width("test/top2_accuracy", 0.01, -0.02, 0.04) == "1.00 [0, 4.00]"
    assert with_half_width("test/top2_accuracy", -0.01, -0.02, 0.0, signed=True) == "-1.00 ± 1.00"


def test_an_interval_with_one_end_tells_the_sign() -> None:
    assert half_open("test/top2_accuracy", 0.0, None) == "> 0"
    assert half_open("test/top2_accuracy", None, 0.0) == "< 0"
    assert half_open("test/top2_accuracy", -0.01, 0.012) == "[-1.00, +1.20]"
    assert half_open("test/top2_accuracy", 0.0, 0.012) == "(0, +1.20]"
    assert half_open("test/top2_accuracy", -0.012, 0.0) == "[-1.20, 0)"
    assert half_open("test/top2_accuracy", None, None) == "-"


def test_small_p_values_are_not_shown_as_zero() -> None:
    assert (p_value(0.00099), p_value(0.001), p_value(0.5)) == ("<0.001", "0.001", "0.500")


def test_settings_are_short_and_keep_names() -> None:
    assert settings({"alpha": 0.31622776, "k": 3, "training.batch_size": "full"}) == (
        "alpha = 0.316, k = 3, training.batch_size = full"
    )
    assert settings({"model": {"name": "linear", "width": 3}}) == "model = linear"


def test_runs_of_seeds_are_shortened() -> None:
    assert seeds((7, 0, 2, 1, 9, 10)) == "0-2, 7, 9, 10"
