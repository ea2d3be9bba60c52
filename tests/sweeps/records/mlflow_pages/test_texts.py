"""Results in the text columns of MLflow's table, and in sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.records.mlflow_pages.texts import (
    column,
    order_key,
    own_metric,
    reported_metrics,
    result_columns,
    run_sentence,
    runs_text,
    sentence,
)
from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study

Make = Callable[..., Any]


@pytest.fixture
def aggregated(make_pair: Make) -> Callable[..., list[Aggregate]]:
    """Calls give the aggregates of two seeds that both have these metrics."""

    def call(**metrics: float) -> list[Aggregate]:
        named = {name.replace("__", "/").replace("_AT_", "@"): value for name, value in metrics.items()}
        pairs = [make_pair("focal", 0.2, seed) for seed in (10, 11)]
        return aggregate([(run, replace(result, metrics=named)) for run, result in pairs], confidence=0.95)

    return call


def test_a_search_is_about_its_objective_and_the_rest_about_what_is_compared(make_study: Make) -> None:
    study = make_study()
    assert reported_metrics(study, "search") == ["val/avg2_accuracy"]
    assert reported_metrics(study, "confirm") == [
        "test/top2_accuracy", "test/top3_accuracy", "test/avg2_accuracy", "test/avg3_accuracy"
    ]  # fmt: skip
    own = make_study(search=None, compare=Compare(metrics=("test/avg3_accuracy",)))
    assert reported_metrics(own, "confirm") == ["test/avg3_accuracy"]
    assert reported_metrics(own, "search") == []
    assert (own_metric(study, "search"), own_metric(own, "search")) == ("val/avg2_accuracy", "")
    assert own_metric(own, "confirm") == "test/avg3_accuracy"


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("test/top2_accuracy", "top-2"),
        ("val/top2_accuracy", "val top-2"),
        ("test/avg2_set_size", "avg-2 size"),
        ("test/top1_accuracy@avg5_accuracy", "top-1 at best avg-5"),
        ("train/loss", "train/loss"),
    ],
)
def test_a_column_is_of_the_test_split_unless_it_says_another(metric: str, name: str) -> None:
    assert column(metric) == name


def test_columns_are_the_plain_metrics_of_the_stages_split_and_what_it_is_about(study: Study, aggregated: Any) -> None:
    found = aggregated(
        test__top2_accuracy=0.9, test__avg2_set_size=2.0, val__top2_accuracy=0.8, test__macro_top2_accuracy=0.7
    )
    assert result_columns(study, "confirm", found) == {"top-2": "90.00 ± 0.00", "avg-2 size": "2.00 ± 0.00"}
    assert result_columns(study, "search", found) == {"val top-2": "80.00 ± 0.00"}
    macro = replace(study, compare=replace(study.compare, metrics=("test/macro_top2_accuracy",)))
    assert result_columns(macro, "confirm", found)["macro top-2"] == "70.00 ± 0.00"


def test_a_sentence_has_what_the_stage_is_about_and_how_many_seeds(study: Study, aggregated: Any) -> None:
    found = aggregated(test__top2_accuracy=0.9, test__avg2_accuracy=0.8)
    assert sentence(study, "confirm", found, 2, 3) == "top-2 90.00 ± 0.00 %; 2 of 3 seeds"
    assert sentence(study, "confirm", aggregated(val__top2_accuracy=0.9), 0, 3) == "no result; 0 of 3 seeds"
    assert runs_text(2, 3) == "2 of 3"


def test_a_run_says_what_it_gave_or_why_it_gave_nothing(study: Study, make_pair: Make) -> None:
    _, result = make_pair("focal", 0.2, 10)
    assert run_sentence(study, "confirm", replace(result, metrics={"test/top2_accuracy": 0.9127})) == "top-2 91.27 %"
    assert run_sentence(study, "confirm", replace(result, metrics={})) == ""
    assert run_sentence(study, "confirm", make_pair("focal", 0.2, 10, status="diverged")[1]).startswith("training loss")
    assert run_sentence(study, "confirm", replace(result, status="failed", reason=None)) == "failed"


def test_rows_sort_by_point_then_the_best_first_then_those_without_a_number(study: Study, aggregated: Any) -> None:
    def key(noise: float, value: float | None, metric: str = "test__top2_accuracy") -> str:
        found = [] if value is None else aggregated(**{metric: value})
        return order_key(study, "confirm", {"data.label_noise": noise}, found)

    keys = [key(0.0, 0.9), key(0.0, 0.1), key(0.0, None), key(0.2, 0.95), key(0.3, 0.99)]  # 0.3 is asked for no longer
    assert sorted(keys) == keys
    assert len({len(each) for each in keys}) == 1


def test_of_set_sizes_the_smaller_is_first(study: Study, aggregated: Any) -> None:
    sizes = replace(study, compare=replace(study.compare, metrics=("test/avg2_set_size",)))
    small, large, none = (
        order_key(sizes, "confirm", {}, aggregated(test__avg2_set_size=size) if size else []) for size in (2.0, 10.0, 0)
    )
    assert small < large < none
