"""Whether one configuration serves everywhere is asked where there is something to choose, and places differ."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.places import over_points
from setsweep.trainables.config.run_result import RunResult

NOISE = {"data.label_noise": [0.0, 0.2]}
VARIED = {"avgk.alpha": [0.1, 2], "seeds": 3}


def outcome(run: Any) -> RunResult:
    """Alpha 0.1 is best on validation and alpha 2 on test, by 5 points; noise costs 10 of both."""
    noise = run.point.get("data.label_noise", 0.0)

    def value(best: float) -> float:
        return 0.8 - 0.05 * (run.config.loss.get("alpha") != best) - noise / 2 + run.seed / 1000

    metrics = {"val/avg2_accuracy": value(0.1), "test/avg2_accuracy": value(2.0)}
    return RunResult(key=run.key, status="done", metrics=metrics)


def test_places_are_named_by_their_point_and_by_k_where_there_are_several(reported: Any) -> None:
    (by_point,) = over_points(reported(outcome, grid=NOISE, sensitivity=VARIED), "test/avg2_accuracy")
    assert by_point.names == ("data.label_noise = 0", "data.label_noise = 0.2")
    report = reported(k=[1, 2], grid=NOISE, sensitivity=VARIED)  # of k = 1 these runs have nothing
    assert {each.names for each in over_points(report, "test/avg2_accuracy")} <= {
        ("data.label_noise = 0, k = 2", "data.label_noise = 0.2, k = 2")
    }


def test_what_is_used_elsewhere_is_chosen_on_validation_whatever_the_metric(reported: Any) -> None:
    (found,) = over_points(reported(outcome, grid=NOISE, sensitivity=VARIED), "test/avg2_accuracy")
    assert found.everywhere.chosen == (0, 0)  # alpha 0.1, though 2 is better on test
    first, second = found.everywhere.regrets
    assert [regret.mean for regret in first if regret] == pytest.approx([0.05, 0.05])
    assert [regret.mean for regret in second if regret] == [0, 0]


def test_a_configuration_that_lacks_a_run_is_not_chosen(reported: Any) -> None:
    def failing(run: Any) -> RunResult:
        # With two of three seeds alpha 0.1 has 0.8 on validation: more than 0.1 even if the third counted as 0.
        if run.config.loss.get("alpha") == 0.1:
            return RunResult(key=run.key, status="failed", reason="gone") if run.seed == 1 else outcome(run)
        value = 0.1 + run.seed / 1000
        return RunResult(key=run.key, status="done", metrics={f"{s}/avg2_accuracy": value for s in ("val", "test")})

    (found,) = over_points(reported(failing, grid=NOISE, sensitivity=VARIED), "test/avg2_accuracy")
    assert found.everywhere.chosen == (1, 1)


@pytest.mark.parametrize("lost", [False, True])
def test_an_arm_to_which_all_points_are_the_same_is_left_out_also_where_a_run_failed(reported: Any, lost: bool) -> None:
    def sometimes(run: Any) -> RunResult:
        if lost and run.config.loss.get("alpha") == 2 and run.seed == 1:
            return RunResult(key=run.key, status="failed", reason="gone")
        return outcome(run)

    arms = {"cross_entropy": {}, "avgk": {"k": 2}, "focal": {}}
    report = reported(sometimes, arms=arms, grid={"focal.gamma": [1.0, 2.0]}, sensitivity=VARIED)
    assert over_points(report, "test/avg2_accuracy") == []


def test_one_place_alone_has_no_elsewhere(reported: Any) -> None:
    assert over_points(reported(outcome, sensitivity=VARIED), "test/avg2_accuracy") == []
