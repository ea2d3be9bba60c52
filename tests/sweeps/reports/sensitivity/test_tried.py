from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.reports.sensitivity.tried import along, common_seeds, designed, searched
from setsweep.trainables.config.run_result import RunResult


def test_scores_stand_by_configuration_and_seed(reported: Any, grid: Any) -> None:
    (tried,) = designed(reported(**grid), "test/avg2_accuracy")
    assert (tried.arm, tried.scores.shape, tried.seeds) == ("avgk", (9, 5), (0, 1, 2, 3, 4))
    assert [own["alpha"] for own in tried.configurations][:2] == [0.1, 0.178]
    assert np.isfinite(tried.scores).all()
    assert not tried.failed.any()


def test_the_default_and_what_was_chosen_are_known(reported: Any) -> None:
    report = reported(
        arms={"cross_entropy": {}, "avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}},
        search={"trials": 5, "seeds": 1},
        sensitivity={"avgk.alpha": 3, "training.batch_size": [32, 64], "seeds": 2},
    )
    alpha, size = designed(report, "test/avg2_accuracy")[1].dimensions
    (chosen,) = {each.params["alpha"] for each in report.chosen if each.arm == "avgk"}
    assert (alpha.default, alpha.chosen) == (1.0, chosen)
    assert (size.default, size.chosen) == (64, None)


def test_a_value_that_the_study_gives_is_the_default(reported: Any) -> None:
    report = reported(arms={"avgk": {"alpha": 0.3}}, sensitivity={"avgk.alpha": 3, "seeds": 2}, compare={})
    assert designed(report, "test/avg2_accuracy")[0].dimensions[0].default == 0.3


def test_a_grid_of_two_is_an_array_of_three_axes(reported: Any) -> None:
    report = reported(sensitivity={"avgk.alpha": [0.1, 1, 10], "training.batch_size": [32, 64], "seeds": 2})
    tried = designed(report, "test/avg2_accuracy")[1]
    assert tried.is_grid
    assert tried.grid().shape == (3, 2, 2)
    assert tried.grid()[2, 1, 0] == tried.scores[5, 0]
    assert tried.configurations[5] == {"alpha": 10.0, "training.batch_size": 64}


def test_failed_runs_and_those_to_come_are_told_apart(reported: Any, grid: Any) -> None:
    def outcome(run: Any) -> RunResult:
        return RunResult(
            key=run.key,
            status="diverged" if run.seed == 4 else "done",
            metrics={} if run.seed == 4 else {"test/avg2_accuracy": 0.5, "val/avg2_accuracy": 0.5},
        )

    (tried,) = designed(reported(outcome, most=20, **grid), "test/avg2_accuracy")
    assert np.nansum(tried.failed) == (tried.failed == 1).sum() > 0
    assert np.isnan(tried.failed).any()
    assert np.isnan(tried.scores[tried.failed == 1]).all()


def test_trials_of_a_search_are_no_design_and_a_race_has_few_seeds_in_common(reported: Any) -> None:
    report = reported(
        arms={"avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}},
        search={"trials": 12, "seeds": 1, "race": {"seeds": 3}},
        compare={},
    )
    (tried,) = searched(report)
    assert not tried.designed
    assert tried.scores.shape == (12, 3)
    assert common_seeds(tried).tolist() == [0]
    assert tried.metric == "val/avg2_accuracy"


def test_a_searched_grid_with_two_seeds_is_a_design(reported: Any) -> None:
    searching = {"trials": 3, "sampler": "grid", "seeds": 2}
    arms = {"avgk": {"alpha": {"choice": [0.1, 1, 10]}, "k": 2}}
    (tried,) = searched(reported(arms=arms, search=searching, compare={}))
    assert tried.designed
    (tried,) = searched(reported(arms=arms, search={**searching, "seeds": 1}, compare={}))
    assert not tried.designed


def test_one_hyperparameter_drawn_at_random_is_a_design_and_one_chosen_by_scores_is_none(reported: Any) -> None:
    arms = {"avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}}
    for sampler, expected in (("random", True), ("gp", False)):
        (tried,) = searched(reported(arms=arms, search={"trials": 9, "seeds": 2, "sampler": sampler}, compare={}))
        assert tried.designed is expected


def test_a_search_of_one_value_has_nothing_to_vary(reported: Any) -> None:
    arms = {"avgk": {"alpha": {"choice": [2]}, "training.batch_size": {"choice": [32, 64]}, "k": 2}}
    (tried,) = searched(reported(arms=arms, search={"trials": 2, "seeds": 2}, compare={}))
    assert [each.name for each in tried.dimensions] == ["training.batch_size"]


def test_means_over_the_other_hyperparameter_go_without_its_failing_values(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        if run.config.loss.get("alpha") == 100 and run.config.training.batch_size == 64:
            return RunResult(key=run.key, status="diverged", reason="training loss must be finite, got nan in epoch 1.")
        value = 0.5 + run.config.training.batch_size / 1000
        return RunResult(key=run.key, status="done", metrics={f"{s}/avg2_accuracy": value for s in ("val", "test")})

    report = reported(outcome, sensitivity={"avgk.alpha": [1, 10, 100], "training.batch_size": [16, 64], "seeds": 2})
    tried = designed(report, "test/avg2_accuracy")[1]
    sizes, over = along(tried, 1)
    assert over == {"alpha": (1.0, 10.0)}
    assert sizes == pytest.approx(np.array([[0.516, 0.516], [0.564, 0.564]]))
    alphas, over = along(tried, 0)
    assert over == {"training.batch_size": (16, 64)}
    assert np.isnan(alphas).all(axis=1).tolist() == [False, False, True]
