from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.statistics.aggregates import aggregate
from setsweep.sweeps.statistics.comparisons import Comparison, compare
from setsweep.sweeps.statistics.methods.corrections import corrected
from setsweep.sweeps.study.parts import Compare

PRIMARY = "test/avg2_accuracy"  # the test twin of the study's objective


@pytest.fixture
def compared(study: Any, results: Any) -> Any:
    """Calls compare the arms of finished runs, under other settings."""

    def call(settings: Compare) -> list[Comparison]:
        return compare(aggregate(results(study), confidence=0.95), replace(study, compare=settings))

    return call


def test_every_arm_is_compared_at_every_point_on_every_test_accuracy(compared: Any) -> None:
    found = compared(Compare(baseline="cross_entropy"))
    # 2 arms beside the baseline, 2 points, and top and average accuracy for k = 2 and 3.
    assert len(found) == 2 * 2 * 4
    assert {c.arm for c in found} == {"avgk", "noised"}
    assert {c.metric for c in found} == {f"test/{rule}{k}_accuracy" for rule in ("top", "avg") for k in (2, 3)}


def test_named_metrics_take_the_place_of_the_accuracies(compared: Any) -> None:
    found = compared(Compare(baseline="cross_entropy", metrics=("test/macro_top2_accuracy",)))
    assert {(c.metric, c.role) for c in found} == {("test/macro_top2_accuracy", "primary")}


def test_without_a_baseline_and_pairs_nothing_is_compared(compared: Any) -> None:
    assert compared(Compare()) == []


def test_a_difference_is_the_arm_minus_the_baseline(study: Any, results: Any) -> None:
    aggregates = aggregate(results(study), confidence=0.95)
    means = {(a.arm, str(a.point), a.metric): a.mean for a in aggregates if a.stage == "confirm"}
    for c in compare(aggregates, study):
        arm, baseline = means[c.arm, str(c.point), c.metric], means["cross_entropy", str(c.point), c.metric]
        assert arm is not None
        assert baseline is not None
        assert c.difference == pytest.approx(arm - baseline)


def test_swapping_arm_and_baseline_turns_the_sign_and_keeps_p(compared: Any) -> None:
    there = {(c.metric, str(c.point)): c for c in compared(Compare(baseline="avgk")) if c.arm == "noised"}
    for c in compared(Compare(baseline="noised")):
        if c.arm == "avgk" and c.difference is not None:
            assert there[c.metric, str(c.point)].difference == pytest.approx(-c.difference)
            assert there[c.metric, str(c.point)].p == pytest.approx(c.p)


@pytest.mark.parametrize(("correction", "times"), [("bonferroni", 4), ("holm", 4), ("none", 1)])
def test_the_primary_metric_is_corrected_over_its_arms_and_points_alone(
    compared: Any, correction: Any, times: int
) -> None:
    found = [c for c in compared(Compare(baseline="cross_entropy", correction=correction)) if c.role == "primary"]
    assert {c.metric for c in found} == {PRIMARY}
    assert len(found) == 4
    # 2 arms at 2 points; the smallest p is multiplied by 4 in Holm's procedure too.
    smallest = min(found, key=lambda c: c.p)
    assert smallest.p_corrected == pytest.approx(min(1, times * smallest.p))


def test_other_metrics_are_tested_only_where_the_primary_is_significant(
    study: Any, results: Any, finished: Any
) -> None:
    def outcome(run: Any) -> Any:
        """The other arm's primary metric goes up and down from seed to seed."""
        result = finished(run)
        swings = {PRIMARY: result.metrics.get(PRIMARY, 0) + 0.1 * (-1) ** run.seed} if run.arm == "noised" else {}
        return replace(result, metrics={**result.metrics, **swings})

    found = compare(aggregate(results(study, outcome), confidence=0.95), study)
    first = {(c.arm, str(c.point)): c.significant for c in found if c.metric == PRIMARY}
    assert {(arm, significant) for (arm, _), significant in first.items()} == {("avgk", True), ("noised", False)}
    others = [c for c in found if c.metric != PRIMARY]
    assert set(first.values()) == {True, False}  # the made-up results have both
    for c in others:
        tested = first[c.arm, str(c.point)]
        assert (c.role, c.p_corrected is None) == (("secondary", False) if tested else ("exploratory", True))
    # Those not tested count as 1 in the family of 12.
    p_values = [c.p if c.role == "secondary" else 1.0 for c in others]
    assert [c.p_corrected for c in others if c.role == "secondary"] == pytest.approx(
        [p for p, c in zip(corrected(p_values, "holm"), others, strict=True) if c.role == "secondary"]
    )


def test_without_a_correction_every_metric_is_tested_as_it_is(compared: Any) -> None:
    found = compared(Compare(baseline="cross_entropy", correction="none"))
    assert {c.role for c in found} == {"primary", "secondary"}
    assert all(c.p_corrected == c.p for c in found)


def test_another_primary_may_be_named(compared: Any) -> None:
    found = compared(Compare(baseline="cross_entropy", primary="test/macro_top3_accuracy"))
    assert {c.metric for c in found if c.role == "primary"} == {"test/macro_top3_accuracy"}
    assert len({c.metric for c in found}) == 5  # beside the accuracies for two k


def test_further_pairs_are_of_the_same_family(compared: Any) -> None:
    found = compared(Compare(baseline="cross_entropy", pairs=(("avgk", "noised"),), correction="bonferroni"))
    pair = [c for c in found if (c.arm, c.baseline) == ("avgk", "noised")]
    assert len(pair) == 2 * 4
    # 2 arms and a pair at 2 points
    assert all(c.p_corrected == pytest.approx(min(1, 6 * c.p)) for c in found if c.role == "primary")


def test_a_family_does_not_shrink_where_an_arm_is_not_there_yet(study: Any, results: Any) -> None:
    whole = compare(aggregate(results(study), confidence=0.95), study)
    without = [(run, result) for run, result in results(study) if run.arm != "noised" or run.point["data.label_noise"]]
    some = compare(aggregate(without, confidence=0.95), study)
    assert len(some) == len(whole) - 4
    known = {(c.arm, str(c.point), c.metric): c.p_corrected for c in whole}
    smallest = min((c for c in whole if c.role == "primary"), key=lambda c: c.p or 1)
    assert smallest.arm == "avgk"
    assert known[smallest.arm, str(smallest.point), PRIMARY] in [c.p_corrected for c in some]


def test_a_seed_that_died_in_one_arm_is_not_in_the_pairs(study: Any, results: Any, finished: Any, failed: Any) -> None:
    def outcome(run: Any) -> Any:
        return failed(run) if (run.arm, run.seed) in {("avgk", 100), ("cross_entropy", 101)} else finished(run)

    found = compare(aggregate(results(study, outcome), confidence=0.95), study)
    # avgk lacks seeds 100 and, as the baseline does, 101; the other arm lacks 101 alone.
    assert {(c.arm, c.n) for c in found} == {("avgk", 3), ("noised", 4)}


def test_a_dead_baseline_leaves_differences_undefined(study: Any, results: Any, finished: Any, failed: Any) -> None:
    runs = results(study, lambda run: failed(run) if run.arm == "cross_entropy" else finished(run))
    found = compare(aggregate(runs, confidence=0.95), study)
    assert len(found) == 16
    assert all((c.n, c.difference, c.p, c.p_corrected, c.significant) == (0, None, None, None, False) for c in found)


def test_equal_differences_are_no_proof(study: Any, results: Any, finished: Any) -> None:
    """Accuracies are counts: five differences of 3 of 360 images would have p = 0."""

    def outcome(run: Any) -> Any:
        hits = 330 + run.seed % 3 + (3 if run.arm == "avgk" else 0)
        return replace(finished(run), metrics={PRIMARY: hits / 360} if run.stage == "confirm" else {})

    found = compare(aggregate(results(study, outcome), confidence=0.95), study)
    equal = [c for c in found if c.arm == "avgk"]
    assert [(c.p, c.ci_low, c.p_corrected, c.significant) for c in equal] == [(None, None, None, False)] * 2
    assert all(c.difference == pytest.approx(3 / 360) for c in equal)


def test_the_primary_metric_has_details_and_the_others_none(compared: Any) -> None:
    for c in compared(Compare(baseline="cross_entropy")):
        assert (c.details is not None) == (c.metric == PRIMARY)


def test_equivalence_is_told_where_it_is_asked_for(compared: Any) -> None:
    settings = Compare(baseline="cross_entropy", equivalent=1.0)
    found = {(c.arm, c.details.equivalent) for c in compared(settings) if c.details}
    # In the made-up results avgk is 2 points better and the other arm 0.4.
    assert found == {("avgk", False), ("noised", True)}
