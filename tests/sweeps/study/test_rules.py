"""Rules of what only a study has."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.rules import metrics_rule, name_rule, objective_rule, primary_rule


@pytest.mark.parametrize("name", ["a", "x" * 100, "-", "Fashion_losses-2"])
def test_a_name_is_letters_digits_hyphens_and_underscores(name: str) -> None:
    assert name_rule("a name").check(name) == name


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", "a\n", None, True])
def test_what_can_be_no_folder_or_record_is_no_name(name: object) -> None:
    with pytest.raises(ValueError) as caught:
        name_rule("an arm's name").check(name)
    assert str(caught.value) == f"must be an arm's name of letters, digits, - and _, got {name!r}."


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("x" * 101, "must be at most 100 characters long, got 101: 'xxxxxxxxxxxxxxxxxxxx'...."),
        (2024, 'must be a name of letters, digits, - and _, got 2024. A number is a name in quotes: "2024".'),
        ("é", "must be a name of letters, digits, - and _, got 'é'. Letters are a to z, without accents."),
    ],
)
def test_why_it_is_no_name_is_said_where_one_may_wonder(name: object, rule: str) -> None:
    with pytest.raises(ValueError) as caught:
        name_rule("a name").check(name)
    assert str(caught.value) == rule


def test_an_objective_is_an_accuracy_on_validation_at_a_k_of_the_study() -> None:
    rule = objective_rule([2, 5])
    for name in ("val/top2_accuracy", "val/avg5_accuracy", "val/macro_avg2_accuracy"):
        assert rule.check(name) == name


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("test/avg2_accuracy", "must be a validation metric, as a choice made on test data spoils them, got "),
        (
            "val/lac90_set_size",
            "must be an accuracy or a set size by a rule, as no choice may see the calibration split",
        ),
        (
            "val/avg3_accuracy",
            "unknown validation metric 'val/avg3_accuracy'. Did you mean 'val/avg5_accuracy'? Known: ",
        ),
        ("val/avg2_set_size", "unknown validation metric 'val/avg2_set_size'."),
        ("avg2_accuracy", "unknown validation metric 'avg2_accuracy'."),
        (None, "unknown validation metric None."),
        (["val/avg2_accuracy"], "unknown validation metric ['val/avg2_accuracy']."),
    ],
)
def test_what_is_no_objective_is_refused(value: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        objective_rule([2, 5]).check(value)
    assert str(caught.value).startswith(message)


def test_what_is_compared_are_test_metrics_in_the_order_given() -> None:
    names = ["test/macro_top2_accuracy_few", "test/avg2_set_size", "test/avg2_accuracy@top2_accuracy"]
    assert metrics_rule([2]).check(names) == tuple(names)
    assert metrics_rule([2], none=True).check([]) == ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("test/avg2_accuracy", "must be a list, got 'test/avg2_accuracy'."),
        ([3], "must be text, got 3."),
        (["val/avg2_accuracy"], "unknown test metric 'val/avg2_accuracy'. Did you mean 'test/avg2_accuracy'? Known: "),
        (["test/top2_accuracy_few"], "unknown test metric 'test/top2_accuracy_few'."),
        (["test/avg3_accuracy@top2_accuracy"], "unknown test metric 'test/avg3_accuracy'."),
        (
            ["test/avg2_accuracy@top3_accuracy"],
            "unknown accuracy to read it at 'top3_accuracy'. Did you mean 'top2_acc",
        ),
        (["test/avg2_accuracy@val/top2_accuracy"], "unknown accuracy to read it at 'val/top2_accuracy'."),
        (
            ["test/avg2_set_size@avg2_accuracy"],
            "must be test/avg2_set_size alone at the best epoch of its own, got 'test/avg2_set_size@avg2_accuracy'.",
        ),
        ([], "must be one metric or more, each once, got []."),
        (["test/avg2_accuracy"] * 2, "must be one metric or more, each once, got ['test/avg2_accuracy', "),
    ],
)
def test_what_is_no_list_of_test_metrics_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        metrics_rule([2]).check(value)
    assert str(caught.value).startswith(message)


def test_where_the_set_sizes_are_broken_no_metric_is_refused_for_it() -> None:
    assert primary_rule(()).check("test/avg2_accuracy") == "test/avg2_accuracy"
    with pytest.raises(ValueError, match="unknown test accuracy"):
        primary_rule((3,)).check("test/avg2_accuracy")
