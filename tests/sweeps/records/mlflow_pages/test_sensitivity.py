"""Curves over what a study varies, of the study's own run, and the view that draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow_pages.page import build_page
from setsweep.sweeps.records.mlflow_pages.sensitivity import curves, dimensions
from setsweep.sweeps.records.mlflow_pages.view import views
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.varied import Axis, Sensitivity
from setsweep.trainables.config.run_result import RunResult

NOISE = {"data.label_noise": (0.4, 0.0, 0.2)}


def outcome(run: PlannedRun) -> RunResult:
    """Worse with noise, best at alpha 1, a little better with each seed."""
    noise, alpha = run.point.get("data.label_noise", 0.0), run.params.get("alpha", 1.0)
    value = 0.9 - noise / 2 - abs(alpha - 1) / 100 + run.seed % 2 / 1000
    return RunResult(key=run.key, status="done", metrics={"test/avg3_accuracy": value, "val/avg3_accuracy": value})


def reported(study: Study) -> Any:
    return build_report(study, [(run, outcome(run)) for run, _ in Planner(study).runs()])


@pytest.fixture
def over_noise(make_study: Callable[..., Study]) -> Study:
    return make_study(search=None, grid=NOISE)


def test_over_a_grid_each_arm_has_a_curve_whose_steps_are_places_and_whose_x_axis_is_a_metric(
    over_noise: Study,
) -> None:
    assert over_noise.primary == "test/avg3_accuracy"
    found = curves(reported(over_noise))
    assert found["by label_noise/label_noise"] == [(0, 0.0), (1, 0.2), (2, 0.4)]
    steps, means = zip(*found["by label_noise/avgk/mean"], strict=True)
    assert steps == (0, 1, 2)
    assert [round(mean, 2) for mean in means] == [0.9, 0.8, 0.7]
    low, high = (found[f"by label_noise/avgk/{part}"] for part in ("ci_low", "ci_high"))
    assert all(below < mean < above for (_, below), mean, (_, above) in zip(low, means, high, strict=True))


def test_a_sensitivity_study_has_means_over_what_varies_beside(make_study: Callable[..., Study]) -> None:
    axes = (
        Axis(path="avgk.alpha", values=(0.1, 1.0, 10.0), log=True),
        Axis(path="training.batch_size", values=(16, 64)),
    )
    study = make_study(search=None, grid={}, sensitivity=Sensitivity(axes=axes, seeds=(0, 1)))
    (alpha,) = dimensions(study)  # two batch sizes are no curve
    assert (alpha.label, alpha.is_log, dict(alpha.names)) == ("alpha", True, {"avgk": "alpha"})
    found = curves(reported(study))
    assert {name for name in found if name.startswith("by ")} == {"by alpha/alpha", "by alpha/avgk/mean"}
    assert max(found["by alpha/avgk/mean"], key=lambda pair: pair[1])[0] == 1  # at alpha 1


def test_a_study_of_two_values_or_of_names_has_no_curve_and_no_view(make_study: Callable[..., Study]) -> None:
    for grid in ({}, {"data.label_noise": (0.0, 0.2)}, {"training.schedule": ("step", "cosine", "none")}):
        study = make_study(search=None, grid=grid)
        assert dimensions(study) == []
        assert "sensitivity" not in [view.key for view in views(study)]


def test_the_page_has_curves_once_the_study_is_complete(over_noise: Study) -> None:
    whole = reported(over_noise)
    runs = [
        (run, outcome(run) if run.seed != over_noise.confirm_seeds[0] else None)
        for run, _ in Planner(over_noise).runs()
    ]
    assert set(build_page(whole).curves) == set(curves(whole))
    assert build_page(build_report(over_noise, runs)).curves == {}


def test_the_view_draws_all_arms_and_each_with_its_interval_over_the_values(over_noise: Study) -> None:
    (view,) = [view for view in views(over_noise) if view.key == "sensitivity"]
    together, *each = view.charts
    arms = list(over_noise.arms)
    assert together["selectedMetricKeys"] == [f"by label_noise/{arm}/mean" for arm in arms]
    assert {chart["selectedXAxisMetricKey"] for chart in view.charts} == {"by label_noise/label_noise"}
    assert [chart["selectedMetricKeys"][1] for chart in each] == [f"by label_noise/{arm}/ci_low" for arm in arms]
    written = set(curves(reported(over_noise)))
    assert written <= {*view.no_charts, *(chart["metricKey"] for chart in view.charts)}
