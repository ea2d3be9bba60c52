"""The parameters of a run in MLflow: what differs from the defaults, under the names that people know."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.records.mlflow_pages.params import dataset, params, run_params, short, study_params, text
from setsweep.sweeps.study.study import Study
from setsweep.trainables.conformal.how import Conformal


def test_params_are_the_configuration_with_hyperparameters_and_grid_point_by_their_names(
    make_pair: Callable[..., Any],
) -> None:
    planned, _ = make_pair("focal", 0.2, 10)
    assert params(planned) == {
        "data.name": "digits",
        "model.name": "linear",
        "loss": "focal",
        "set_sizes": "[2]",
        "training.epochs": "3",
        "training.batch_size": "128",
        "training.optimizer.name": "sgd",
        "training.optimizer.lr": "0.1",
        "lr": "0.1",
        "gamma": "2.0",
        "data.label_noise": "0.2",
    }
    assert run_params(params(planned), planned) == {**params(planned), "seed": "10"}


def test_the_learning_rate_is_the_one_that_is_used(make_pair: Callable[..., Any]) -> None:
    planned, _ = make_pair("focal", 0.2, 10)
    training = replace(planned.config.training, batch_size=256, reference_batch_size=128)
    planned = replace(planned, config=replace(planned.config, training=training))
    assert (params(planned)["training.optimizer.lr"], params(planned)["lr"]) == ("0.1", "0.2")


def test_a_full_batch_has_the_learning_rate_that_it_is_given_and_none_where_it_depends_on_the_data(
    make_pair: Callable[..., Any],
) -> None:
    planned, _ = make_pair("focal", 0.2, 10)

    def lr(**training: Any) -> str | None:
        config = replace(planned.config, training=replace(planned.config.training, batch_size="full", **training))
        return params(replace(planned, config=config)).get("lr")

    assert lr(reference_batch_size=None) == "0.1"
    assert lr(reference_batch_size=128) is None  # the batch is as large as the data, which nobody has read here


def test_a_trial_has_its_number_and_the_settings_of_training_that_are_not_at_their_default(
    make_pair: Callable[..., Any],
) -> None:
    planned, _ = make_pair("focal", 0.2, 10)
    config = replace(planned.config, training=replace(planned.config.training, patience=7, milestones=(6, 8)))
    found = params(replace(planned, candidate=replace(planned.candidate, trial=0), config=config))
    assert (found["trial"], found["training.patience"], found["training.milestones"]) == ("0", "7", "[6, 8]")


def test_the_data_are_named_with_their_point_and_known_by_what_decides_them(make_pair: Callable[..., Any]) -> None:
    name, digest, settings = dataset(make_pair("focal", 0.2, 10)[0])
    assert (name, len(digest)) == ("digits label_noise=0.2", 8)
    assert json.loads(settings) == {"name": "digits", "label_noise": 0.2}
    other, _ = make_pair("cross_entropy", 0.2, 11)
    other = replace(other, config=replace(other.config, data={"label_noise": 0.2, "name": "digits"}))
    assert dataset(other)[1] == digest  # whatever is trained on them
    assert dataset(make_pair("focal", 0.0, 10)[0])[1] != digest


def test_a_study_has_what_its_runs_have_in_common_and_nothing_longer_than_mlflow_takes(
    make_study: Callable[..., Study],
) -> None:
    found = study_params(
        make_study(training={"epochs": 10, "optimizer": {"lr": 0.5}}, confirm_seeds=tuple(range(2000)))
    )
    assert (found["training.optimizer.lr"], found["k"], found["baseline"]) == ("0.5", "[2, 3]", "cross_entropy")
    assert found["search.objective"] == "val/avg2_accuracy"
    assert len(found["confirm.seeds"]) == 6000
    assert not any(name.startswith("search.") for name in study_params(make_study(search=None)))


@pytest.mark.parametrize(
    ("value", "expected"), [("sgd", "sgd"), (True, "true"), (None, "null"), ((1, 2), "[1, 2]"), (0.1, "0.1")]
)
def test_a_value_is_text_as_json_has_it(value: Any, expected: str) -> None:
    assert text(value) == expected


def test_a_name_has_no_more_digits_than_it_needs() -> None:
    assert [short(value) for value in (90.0, 0.25, "full", 3)] == ["90", "0.25", "full", "3"]


def test_params_have_conformal_sets_where_there_are_some(make_pair: Callable[..., Any]) -> None:
    planned, _ = make_pair("focal", 0.2, 10)
    asked = replace(planned.config, coverage=(0.9,), conformal=Conformal(scores=("aps",), randomized=True))
    more = params(replace(planned, config=asked)).items() - params(planned).items()
    assert dict(more) == {"coverage": "[0.9]", "conformal.scores": '["aps"]', "conformal.randomized": "true"}
