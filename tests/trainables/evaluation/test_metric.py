"""Metric names: what is spelled is read back, and what is read is spelled the same."""

from __future__ import annotations

import pytest

from setsweep.trainables.conformal.sets import ConformalSets, all_sets
from setsweep.trainables.evaluation.metric import (
    CLASSES_PRESENT,
    GROUPS,
    TRAIN_LOSS,
    Metric,
    accuracies,
    accuracy,
    all_metrics,
    conformal_metric,
    conformal_metrics,
    criterion_of_conformal,
    plain_accuracies,
    set_size,
)

CONFORMAL = all_sets([0.9, 0.995], ["lac", "raps"], ["marginal", "interpolated"])
ALL = [*all_metrics([1, 5, 10]), *conformal_metrics(CONFORMAL), CLASSES_PRESENT, TRAIN_LOSS]


def test_the_names_of_records_are_those_of_the_design() -> None:
    assert accuracy("avg", 5, split="val").name == "val/avg5_accuracy"
    assert accuracy("top", 1, split="test", macro=True).name == "test/macro_top1_accuracy"
    assert accuracy("avg", 10, macro=True, group="few").name == "macro_avg10_accuracy_few"
    assert set_size(3, split="test").name == "test/avg3_set_size"
    assert (TRAIN_LOSS.name, CLASSES_PRESENT.on("val").name) == ("train/loss", "val/classes_present")
    assert accuracy("top", 1, split="test", at=accuracy("top", 5)).name == "test/top1_accuracy@top5_accuracy"


def test_conformal_sets_have_a_score_and_a_coverage_in_percent_in_the_place_of_the_rule() -> None:
    sets = ConformalSets("lac", "marginal", 0.9)
    assert conformal_metric(sets, "set_size_p50", split="test").name == "test/lac90_set_size_p50"
    by_class = ConformalSets("aps", "classwise", 0.995)
    assert conformal_metric(by_class, "macro_coverage", group="few").name == "macro_classwise_aps99.5_coverage_few"
    assert [ConformalSets("pas", "marginal", share).name for share in (0.07, 0.29, 0.9999)] == [
        "pas7",
        "pas29",
        "pas99.99",
    ]


def test_conformal_sets_are_read_at_the_best_epoch_of_average_k_at_the_largest_k() -> None:
    names = [metric.name for metric in accuracies([2, 10])]
    assert criterion_of_conformal(names) == "avg10_accuracy"
    assert all(metric.criterion is None for metric in conformal_metrics(CONFORMAL))
    read_elsewhere = Metric.parse("test/lac90_coverage@top2_accuracy")
    assert read_elsewhere.criterion == accuracy("top", 2)


def test_shares_are_told_from_sizes() -> None:
    conformal = conformal_metrics(CONFORMAL)
    assert {metric.quantity for metric in conformal if not metric.is_share} == {
        "set_size", "set_size_p25", "set_size_p50", "set_size_p75", "set_size_p90",
    }  # fmt: skip
    assert not any(metric.is_accuracy for metric in conformal)
    assert accuracy("top", 2).is_share
    assert not TRAIN_LOSS.is_share


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
@pytest.mark.parametrize("split", ["train", "val", "test", None])
def test_a_name_is_read_back_as_the_metric_that_it_spells(metric: Metric, split: str | None) -> None:
    for each in (metric, metric.on(split), Metric(**{**vars(metric.on(split)), "at": accuracy("avg", 7)})):  # type: ignore[arg-type]
        assert Metric.parse(each.name) == each


@pytest.mark.parametrize(
    "name",
    [
        "",
        "accuracy",
        "top_accuracy",
        "top0_accuracy",
        "top05_accuracy",
        "top5",
        "avg5_sizes",
        "macro_avg5_set_size",
        "top5_accuracy_few",  # only macro averages are given by group
        "macro_top5_accuracy_rare",
        "dev/top5_accuracy",
        "test/top5_accuracy@",
        "test/top5_accuracy@val/top5_accuracy",  # epochs are chosen on validation; the name does not repeat it
        "test/top5_accuracy@avg5_set_size",
        "test/top5_accuracy ",
        "lac_coverage",
        "lac90_accuracy",
        "lac90_set_size_p99",
        "marginal_lac90_coverage",  # what is usual has no name
        "macro_lac90_set_size",
        "macro_lac90_undercoverage",  # it is over the classes anyway
        "thr90_coverage",
        "avg5_coverage",
    ],
)
def test_what_is_spelled_otherwise_is_no_metric(name: str) -> None:
    assert Metric.find(name) is None
    with pytest.raises(ValueError, match=r"^must be the name of a metric, got '"):
        Metric.parse(name)


def test_an_accuracy_is_read_at_its_own_best_epoch_and_others_at_that_of_their_accuracy() -> None:
    for metric in accuracies([2, 3]):
        assert metric.criterion == metric
        assert metric.on("test").criterion == metric
    assert set_size(2, split="test").criterion == accuracy("avg", 2)
    for group in GROUPS:
        assert accuracy("top", 2, macro=True, group=group).criterion == accuracy("top", 2, macro=True)
    assert CLASSES_PRESENT.criterion is None
    assert TRAIN_LOSS.criterion is None
    assert accuracy("top", 1, at=accuracy("avg", 5)).criterion == accuracy("avg", 5)


def test_accuracies_are_told_from_what_is_none() -> None:
    assert all(metric.is_accuracy for metric in accuracies([2, 3]))
    assert not any(metric.is_accuracy for metric in (set_size(2), TRAIN_LOSS, CLASSES_PRESENT))


def test_the_plain_form_of_a_metric_is_over_all_examples_alike() -> None:
    assert accuracy("avg", 2, macro=True, group="many", split="test").plain == accuracy("avg", 2, split="test")
    assert [each.plain for each in accuracies([2])] == plain_accuracies([2]) * 2


def test_metrics_can_be_keys_and_are_equal_by_what_they_measure() -> None:
    assert len({metric.name for metric in ALL}) == len(set(ALL)) == len(ALL) == 3 * 4 + 3 * 2 * 3 + 3 + 8 * 4 * 12 + 2
