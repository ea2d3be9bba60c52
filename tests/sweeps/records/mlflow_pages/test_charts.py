"""Charts as the state of a view names them; that MLflow's page knows their fields is tested with the views."""

from __future__ import annotations

from setsweep.sweeps.records.mlflow_pages.charts import bars, layout, line, parallel, scatter


def test_metrics_without_a_chart_are_named_as_deleted_and_those_with_one_are_not() -> None:
    own = [bars("accuracy", "test/top2_accuracy"), line("loss", ["train/loss", "val/loss"])]
    charts = layout("Results", own, ["test/top2_accuracy", "train/loss", "val/loss"])["compareRunCharts"]
    assert charts[:2] == own
    assert [(each["metricKey"], each["deleted"]) for each in charts[2:]] == [("val/loss", True)]


def test_every_chart_lies_in_the_one_section_and_has_an_id_of_its_own() -> None:
    title = "same"
    charts = [
        bars(title, "a"),
        line(title, ["a"]),
        scatter(title, ("PARAM", "alpha"), ("METRIC", "a")),
        parallel(title, ["alpha"], ["a"]),
    ]
    state = layout("Results", charts, ["b"])
    (section,) = state["compareRunSections"]
    assert {each["metricSectionId"] for each in state["compareRunCharts"]} == {section["uuid"]}
    assert len({each["uuid"] for each in state["compareRunCharts"]}) == 5
    assert section["name"] == "Results"


def test_curves_are_over_epochs_unless_another_metric_is_named() -> None:
    over_epochs, over_time = line("loss", ["a", "b"]), line("loss", ["a"], x_metric="seconds")
    assert (over_epochs["xAxisKey"], over_epochs["selectedXAxisMetricKey"]) == ("step", "")
    assert (over_time["xAxisKey"], over_time["selectedXAxisMetricKey"]) == ("metric", "seconds")
    assert (over_epochs["metricKey"], over_epochs["selectedMetricKeys"]) == ("a", ["a", "b"])


def test_the_axes_of_a_scatter_are_parameters_or_metrics() -> None:
    chart = scatter("alpha", ("PARAM", "alpha"), ("METRIC", "val/top2_accuracy"))
    assert chart["xaxis"] == {"key": "alpha", "type": "PARAM"}
    assert chart["yaxis"] == {"key": "val/top2_accuracy", "type": "METRIC"}
