"""What the sensitivity of a study is built of: metrics, what is waiting, baselines, tuning curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.found import look_at
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity, primary_accuracy
from setsweep.sweeps.study.parts import Compare
from setsweep.trainables.config.run_result import RunResult

SEARCHED = {"avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}}


@pytest.mark.parametrize(
    ("primary", "expected"),
    [
        (None, "test/avg3_accuracy"),
        ("test/top2_accuracy", "test/top2_accuracy"),
        ("test/avg2_set_size", "test/avg3_accuracy"),
    ],
)
def test_the_metric_is_the_primary_one_or_average_k_at_the_largest_k(
    make_study: Any, primary: str | None, expected: str
) -> None:
    study = make_study(search=None, k=(2, 3), compare=Compare(primary=primary))
    assert primary_accuracy(study) == expected


def test_on_test_there_is_the_twin_on_validation_and_on_validation_none(reported: Any) -> None:
    report = reported(sensitivity={"avgk.alpha": 3, "seeds": 2})
    found = build_sensitivity(report)
    assert [each.tried.metric for each in found.designs] == ["test/avg2_accuracy"]
    assert [each.tried.metric for each in found.on_validation] == ["val/avg2_accuracy"]


def test_what_is_waiting_is_all_configurations_of_all_arms_at_all_points_less_what_has_ended(reported: Any) -> None:
    # avgk has 3 x 2 configurations, cross_entropy the 2 batch sizes: (6 + 2) x 3 seeds x 2 points = 48 runs.
    sections = {
        "grid": {"data.label_noise": [0.0, 0.2]},
        "sensitivity": {"avgk.alpha": 3, "training.batch_size": [32, 64], "seeds": 3},
    }
    assert build_sensitivity(reported(**sections)).waiting == 0
    begun = reported(most=30, **sections)
    of_metric = [
        each for each in begun.aggregates if (each.stage, each.metric) == ("sensitivity", "test/avg2_accuracy")
    ]
    done = sum(each.n for each in of_metric)
    assert 0 < done < 48
    assert build_sensitivity(begun).waiting == 48 - done


def test_the_baseline_is_found_at_its_point_and_in_its_metric_alone(reported: Any) -> None:
    grid = {"data.label_noise": [0.0, 0.2]}
    found = build_sensitivity(reported(grid=grid, sensitivity={"avgk.alpha": [0.1, 2], "seeds": 2}))
    there = found.baseline_at({"data.label_noise": 0.2}, "test/avg2_accuracy")
    assert there is not None
    assert (there.arm, there.stage, there.point) == ("cross_entropy", "confirm", {"data.label_noise": 0.2})
    assert found.baseline_at({"data.label_noise": 0.3}, "test/avg2_accuracy") is None
    assert found.baseline_at({"data.label_noise": 0.2}, "test/top2_accuracy") is None


def test_a_search_is_told_where_there_is_no_design_of_the_arm_at_the_point(tried: Any, nothing: Any) -> None:
    def of(**fields: Any) -> Any:
        return look_at(tried([[0.5], [0.7], [0.6]], **fields), confidence=0.95)

    design, search = of(point={"x": 1}), of(point={"x": 1}, designed=False)
    elsewhere, other = of(point={"x": 2}, designed=False), of(point={"x": 1}, arm="focal", designed=False)
    found = replace(nothing, designs=(design,), searches=(search, elsewhere, other))
    assert found.told == (design, elsewhere, other)


def test_the_default_is_no_random_trial_where_it_was_tried(reported: Any) -> None:
    search = {"trials": 6, "seeds": 1, "sampler": "random"}
    (tuning,) = build_sensitivity(reported(arms=SEARCHED, search=search, compare={})).tunings
    assert tuning.curve is not None
    assert tuning.curve.trials == 5
    outside = {"avgk": {"alpha": {"log_uniform": [2, 10]}, "k": 2}}  # the default 1 is not among them
    (tuning,) = build_sensitivity(reported(arms=outside, search=search, compare={})).tunings
    assert tuning.curve is not None
    assert tuning.curve.trials == 6


def test_a_search_that_learns_has_a_reason_instead_of_a_tuning_curve(reported: Any) -> None:
    search = {"trials": 5, "seeds": 1, "sampler": "tpe"}
    (tuning,) = build_sensitivity(reported(arms=SEARCHED, search=search, compare={})).tunings
    assert (tuning.arm, tuning.point, tuning.curve) == ("avgk", {}, None)
    assert tuning.reason.startswith("sampler must be random or qmc")


def test_another_metric_may_be_asked_for(reported: Any, grid: Any) -> None:
    found = build_sensitivity(reported(**grid), "val/top2_accuracy")
    assert found.designs[0].tried.metric == "val/top2_accuracy"
    assert found.on_validation == ()


@pytest.mark.parametrize("metric", ["test/avg5_accuracy", "test/avg2_set_size", "accuracy", "train/loss"])
def test_a_metric_that_is_no_accuracy_of_the_study_is_refused(reported: Any, grid: Any, metric: str) -> None:
    with pytest.raises(ValueError, match="metric must be an accuracy on val or test with k of 2, got"):
        build_sensitivity(reported(**grid), metric)


@pytest.mark.parametrize(
    ("sections", "most", "rule"),
    [
        ({"sensitivity": {"avgk.alpha": 3, "seeds": 2}}, 0, "study 'varied' must have runs, got none yet"),
        (
            {"sensitivity": {"avgk.alpha": 3, "seeds": [7, 8]}},
            2,
            "must have runs of its sensitivity study, got none yet",
        ),
        ({}, None, "must vary something, got neither a sensitivity study nor a search"),
    ],
)
def test_a_study_with_nothing_to_say_is_refused(reported: Any, sections: Any, most: int | None, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        build_sensitivity(reported(most=most, **sections))


def test_a_search_whose_runs_all_failed_is_told_as_such(reported: Any) -> None:
    report = reported(
        lambda run: RunResult(key=run.key, status="diverged", reason="nan"),
        arms=SEARCHED,
        search={"trials": 3, "objective": "val/avg2_accuracy"},
        compare={},
    )
    with pytest.raises(ValueError, match="must have a trial with a number, got none: all runs of its search failed"):
        build_sensitivity(report)
