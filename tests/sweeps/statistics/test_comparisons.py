from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate
from setsweep.sweeps.statistics.comparisons import compare
from setsweep.sweeps.study.study import Compare


@pytest.fixture
def aggregates(study: Any, results: Any) -> list[Aggregate]:
    return aggregate(results(study), confidence=0.95)


def test_every_arm_is_compared_at_every_point_on_every_test_accuracy(aggregates: list[Aggregate]) -> None:
    found = compare(aggregates, Compare(baseline="cross_entropy"))
    # 2 arms beside the baseline, 2 points, and top and average accuracy for k = 2 and 3.
    assert len(found) == 2 * 2 * 4
    assert {c.arm for c in found} == {"avgk", "noised"}
    assert {c.metric for c in found} == {f"test/{rule}{k}_accuracy" for rule in ("top", "avg") for k in (2, 3)}


def test_named_metrics_take_the_place_of_the_accuracies(aggregates: list[Aggregate]) -> None:
    found = compare(aggregates, Compare(baseline="cross_entropy", metrics=("test/macro_top2_accuracy",)))
    assert {c.metric for c in found} == {"test/macro_top2_accuracy"}


def test_without_a_baseline_nothing_is_compared(aggregates: list[Aggregate]) -> None:
    assert compare(aggregates, Compare()) == []


def test_a_difference_is_the_arm_minus_the_baseline(aggregates: list[Aggregate]) -> None:
    means = {(a.arm, str(a.point), a.metric): a.mean for a in aggregates if a.stage == "confirm"}
    for c in compare(aggregates, Compare(baseline="cross_entropy")):
        arm, baseline = means[c.arm, str(c.point), c.metric], means["cross_entropy", str(c.point), c.metric]
        assert arm is not None
        assert baseline is not None
        assert c.difference == pytest.approx(arm - baseline)


def test_swapping_arm_and_baseline_turns_the_sign_and_keeps_p(aggregates: list[Aggregate]) -> None:
    there = {(c.metric, str(c.point)): c for c in compare(aggregates, Compare(baseline="avgk")) if c.arm == "noised"}
    for c in compare(aggregates, Compare(baseline="noised")):
        if c.arm == "avgk" and c.difference is not None:
            assert there[c.metric, str(c.point)].difference == pytest.approx(-c.difference)
            assert there[c.metric, str(c.point)].p == pytest.approx(c.p)


def test_p_is_corrected_over_all_comparisons_of_the_study(aggregates: list[Aggregate]) -> None:
    found = compare(aggregates, Compare(baseline="cross_entropy", correction="bonferroni"))
    assert all(c.p_corrected == pytest.approx(min(1, 16 * c.p)) for c in found if c.p is not None)


def test_a_seed_that_died_in_one_arm_is_not_in_the_pairs(study: Any, results: Any, finished: Any, failed: Any) -> None:
    def outcome(run: Any) -> Any:
        return failed(run) if (run.arm, run.seed) in {("avgk", 100), ("cross_entropy", 101)} else finished(run)

    found = compare(aggregate(results(study, outcome), confidence=0.95), study.compare)
    # avgk lacks seeds 100 and, as the baseline does, 101; the other arm lacks 101 alone.
    assert {(c.arm, c.n) for c in found} == {("avgk", 3), ("noised", 4)}


def test_a_dead_baseline_leaves_differences_undefined(study: Any, results: Any, finished: Any, failed: Any) -> None:
    runs = results(study, lambda run: failed(run) if run.arm == "cross_entropy" else finished(run))
    found = compare(aggregate(runs, confidence=0.95), study.compare)
    assert len(found) == 16
    assert all((c.n, c.difference, c.p, c.p_corrected) == (0, None, None, None) for c in found)
