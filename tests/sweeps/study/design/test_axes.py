"""The values of an axis: so many on the declared scale, or a list; and whether they stand on a logarithmic scale."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.design.axes import is_logarithmic, read_axis
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.findings import Findings
from setsweep.sweeps.study.text.source import read_source
from setsweep.sweeps.study.varied import Axis

MINE = Arm(name="mine", loss="avgk")
PLAIN = Arm(name="plain", loss="cross_entropy")
SECTIONS = {"data": {"name": "digits"}, "model": {"name": "small_cnn"}}


def _read(path: str, given: Any, *arms: Arm) -> tuple[Axis | None, str]:
    """The axis, and what is wrong with it."""
    findings = Findings(read_source("sensitivity:\n", "study.yaml"))
    axis = read_axis(findings, path, given, {arm.name: arm for arm in arms or (MINE, PLAIN)}, SECTIONS)
    try:
        findings.raise_any()
    except StudyError as error:
        return axis, " ".join(error.errors)
    return axis, ""


def _values(path: str, given: Any, *arms: Arm) -> tuple[Any, ...]:
    axis, errors = _read(path, given, *arms)
    assert axis is not None, errors
    return axis.values


def test_a_number_of_values_lies_at_equal_steps_on_the_declared_scale() -> None:
    """Alpha is declared log_uniform from 0.1 to 10: five values are half a decade apart, to three digits."""
    assert _values("mine.alpha", 5) == (0.1, 0.316, 1.0, 3.16, 10.0)


def test_the_range_of_an_arms_own_search_goes_before_the_declared_one() -> None:
    searched = Arm(name="mine", loss="avgk", searched={"loss.alpha": Space(kind="uniform", low=1.0, high=2.0)})
    assert _values("mine.alpha", 3, searched) == (1.0, 1.5, 2.0)


def test_numbers_of_a_list_stand_in_ascending_order_and_words_as_they_were_given() -> None:
    assert _values("training.batch_size", [128, 32, 64]) == (32, 64, 128)
    assert _values("training.optimizer.name", ["sgd", "adam"]) == ("sgd", "adam")


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("mine.alpha", 1, "must be"),
        ("mine.alpha", [1.0], "must be two values or more, got [1.0]."),
        ("mine.alpha", [1.0, -1.0], "got -1.0"),
        ("mine.alpha", [1.0, 2.0, 1.0], "must be a list of distinct values, got 1.0 again."),
        ("training.milestones", [[1], [2]], "must be a single value"),
        ("mine.alpah", 5, "mine.alpha"),
        ("training.optimizer.name", 2, "must be a list of values, as training.optimizer.name has no range"),
    ],
)
def test_what_is_wrong_is_said(path: str, given: Any, said: str) -> None:
    axis, errors = _read(path, given)
    assert axis is None
    assert said in errors


def test_a_number_of_values_needs_one_range_of_all_arms() -> None:
    searched = Arm(name="other", loss="avgk", searched={"loss.alpha": Space(kind="log_uniform", low=0.1, high=1.0)})
    axis, errors = _read("loss.alpha", 5, MINE, searched)
    assert axis is None
    assert "arms have different ranges of loss.alpha" in errors


def test_more_values_than_whole_numbers_are_refused_with_how_many_there_are() -> None:
    draws = Arm(name="mine", loss="noised_topk_hinge", searched={"loss.num_samples": Space(kind="int", low=1, high=4)})
    axis, errors = _read("mine.num_samples", 6, draws)
    assert axis is None
    assert "must be at most the 4 whole values of [1, 4] at equal steps, got 6." in errors


@pytest.mark.parametrize(
    ("values", "declared", "log"),
    [
        ([1, 2, 3, 4], False, False),
        ([1, 10, 100], False, True),
        ([32, 64, 128], False, True),
        ([0, 0.1, 1], False, False),
        ([0, 0.1, 1], True, True),  # declared so: zero is drawn beside the scale
        ([1, 10], False, False),  # two values have one step and one ratio
        ([-1, 0, 1], True, False),
        (["sgd", "adam"], False, False),
        ([True, False], True, False),
    ],
)
def test_a_scale_is_logarithmic_where_ratios_are_more_even_than_steps(
    values: list[Any], declared: bool, log: bool
) -> None:
    assert is_logarithmic(values, declared=declared) == log
